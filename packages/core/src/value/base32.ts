const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** RFC 4648 base32 in lower case, without padding. */
export const base32 = (bytes: Uint8Array): string => {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet.charAt((buffer >> bits) & 31);
    }
    buffer &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + alphabet.charAt((buffer << (5 - bits)) & 31);
};

/** What `loader` is asked for. */
export interface LoadRequest {
  /** The address, already resolved against the address of the template that asks. */
  readonly url: string;
  /** The function of the template that asks. */
  readonly via: 'include' | 'source' | 'fetch' | 'raw';
  /** Headers given as `name=value` arguments. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
}

/** Reads a resource as text. Rendering with `render` needs the text at once; `renderAsync` waits for a promise. */
export type Loader = (request: LoadRequest) => string | Promise<string>;

/**
 * The world outside, as far as templates may see it. Each part is optional; a function that needs a missing one ends in an
 * error that says so.
 */
export interface Host {
  /** Milliseconds since the epoch, for `now`, `unixtime` and dates of things that are no dates. */
  readonly clock?: (() => number) | undefined;
  /** Unpredictable bytes, for `rand…`, `uuidv4`, `shuffle`. */
  readonly random?: ((size: number) => Uint8Array) | undefined;
  /** Environment variables, for `env` and `expandenv`. */
  readonly env?: ((name: string) => string | undefined) | undefined;
  readonly loader?: Loader | undefined;
  /** Private keys in PEM, for `genPrivateKey`; `type` is what the template asks for. */
  readonly privateKey?: ((type: string) => string) | undefined;
  /** scrypt, for `derivePassword`. */
  readonly scrypt?: ((request: ScryptRequest) => Uint8Array) | undefined;
  /** Gets what `echo` prints, a line at a time; without it `echo` does nothing. */
  readonly echo?: ((line: string) => void) | undefined;
  /** What earlier attempts of the same rendering waited for, by key. */
  readonly settled?: ReadonlyMap<string, Outcome> | undefined;
}

/** What became of a promise. */
export type Outcome = { readonly value: unknown } | { readonly error: unknown };

export interface ScryptRequest {
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
  readonly length: number;
}

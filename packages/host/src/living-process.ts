/** Whether a process of this machine lives. One that we may not signal lives too. */
export const isLivingProcess = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && Reflect.get(error, 'code') === 'EPERM';
  }
};

import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';

const signalBase = 128;

/** The exit code as a shell reports it: 128 and the number of the signal after one. @throws Error if the program is not installed */
export function exitCodeOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) =>
      reject(new Error(`${child.spawnfile} cannot be started; run: make e2e-deps`, { cause: error })),
    );
    child.once('close', (code, signal) =>
      resolve(code ?? signalBase + (signal === null ? 0 : constants.signals[signal])),
    );
  });
}

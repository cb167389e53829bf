import { execFile } from 'node:child_process';
import type { RunProgram } from '../environment.ts';

/**
 * Runs nvme, hdparm or blkdiscard without a deadline: a secure erase takes hours, and only the signal ends it. Rejects with
 * the error output of the program.
 */
export const runTool: RunProgram = (program, parameters, signal) =>
  new Promise((resolve, reject) => {
    execFile(program, [...parameters], { signal, maxBuffer: 1_048_576 }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const errorText = (stderr.trim() || stdout.trim() || error.message).replaceAll(/\s*\n\s*/g, ' ').slice(0, 300);
      reject(new Error(`${program}: ${errorText}`, { cause: error }));
    });
  });

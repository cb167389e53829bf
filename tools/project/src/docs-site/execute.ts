import { execFile } from 'node:child_process';

/** Runs a program. If it fails, the error has its output. */
export function execute(command: string, args: readonly string[], directory: string): Promise<void> {
  return new Promise((done, fail) => {
    execFile(command, args, { cwd: directory, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error === null) done();
      else fail(new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`.trim() || error.message));
    });
  });
}

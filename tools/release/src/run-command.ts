import { ImageError } from '@metal/discovery-image/errors.ts';
import type { Command } from 'commander';
import { ReleaseError } from './errors.ts';

/** Exit code 1 with one line for an error that has a remedy. */
export async function runCommand(command: Command): Promise<void> {
  try {
    await command.parseAsync();
  } catch (error) {
    if (!(error instanceof ImageError || error instanceof ReleaseError)) throw error;
    process.stderr.write(`${command.name()}: ${error.message}\n`);
    process.exitCode = 1;
  }
}

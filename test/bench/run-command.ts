import { type Command, CommanderError } from 'commander';

/** 1 is for a budget that is missed. */
const exitCodes = { usage: 2, failed: 3 } as const;

/** Runs it and exits; when it is asked to end, what was started ends with it. */
export function runCommand(name: string, command: Command): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(exitCodes.failed));
  command
    .exitOverride()
    .parseAsync()
    .then(
      () => process.exit(),
      (error: unknown) => {
        if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : exitCodes.usage);
        process.stderr.write(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
        process.exit(exitCodes.failed);
      },
    );
}

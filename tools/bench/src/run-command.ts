import { type Command, CommanderError } from 'commander';

/** Exit code 1 means a missed budget. */
const exitCodes = { usage: 2, failed: 3 } as const;

/** Runs the command and exits; on a signal, its child processes end too. */
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

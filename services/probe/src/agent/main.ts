import { networkInterfaces } from 'node:os';
import { machineFiles } from '../machine-files.ts';
import { machineClock, runProgram } from '../run-program.ts';
import { runAgent } from './run-agent.ts';

/** Entry point of the discovery image. It takes no arguments and reads everything from the machine. */
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));

try {
  await runAgent({
    clock: machineClock,
    signal: stop.signal,
    random: Math.random,
    print,
    fetch: globalThis.fetch,
    run: runProgram,
    addresses: networkInterfaces,
    sys: machineFiles('/sys'),
    proc: machineFiles('/proc'),
    leases: machineFiles('/run/boot-files'),
  });
} catch (error) {
  if (!stop.signal.aborted)
    print(`The agent failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  process.exitCode = 1;
}

import { Bmc, Password } from '../src/http/bmc.ts';
import { RedfishError } from '../src/errors.ts';
import { readManagers } from '../src/resources/managers.ts';
import { readSystems } from '../src/resources/systems.ts';
import { wallClock } from './stub-bmc.ts';

/*
 * Reads systems and managers concurrently, as the operator does, and prints the outcome. A program of its own, because the heap
 * limit is an option of Node.
 */
const credentials = { username: 'root', password: new Password('calvin') };
const endpoint = { scheme: 'http', host: '127.0.0.1', port: Number(process.argv[2]) } as const;
await using bmc = new Bmc({ endpoint, credentials, clock: wallClock });
const messageOf = (error: unknown): string =>
  error instanceof RedfishError ? `${error.code} ${error.message}` : `defect: ${String(error)}`;
const outcomes = await Promise.allSettled([readSystems(bmc), readManagers(bmc)]);
const summaries = outcomes.map((each) =>
  each.status === 'fulfilled' ? `${each.value.length} read` : messageOf(each.reason),
);
process.stdout.write(`${JSON.stringify({ summaries, rssMiB: process.resourceUsage().maxRSS / 1_024 })}\n`);

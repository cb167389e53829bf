/** Runs only the caches of the operator, in a separate process. */
import { readFileSync } from 'node:fs';
import { watchOperatorKinds } from '@metal/operator/caches.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { pino } from 'pino';

const kubeconfigPath = process.argv[2];
const collectGarbage = globalThis.gc ?? (() => undefined);
const mebibyte = 1_048_576;

const client = createKubeClient({ kubeconfigPath });
await client.raw({ method: 'GET', path: '/version' });
collectGarbage();
const heapBefore = process.memoryUsage().heapUsed;
const cpuBefore = process.cpuUsage();
const caches = new CacheSet({ client, clock: systemClock, log: pino({ level: 'silent' }) });
const watched = watchOperatorKinds(caches);
const startedAt = performance.now();
await caches.start();
const seconds = (performance.now() - startedAt) / 1_000;
const cpu = process.cpuUsage(cpuBefore);
const peakKiB = Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
collectGarbage();
const heapBytes = process.memoryUsage().heapUsed - heapBefore;
const objects = Object.values(watched).reduce((sum, { size }) => sum + size, 0);
process.stdout.write(
  `${JSON.stringify({ objects, seconds, cpuSeconds: (cpu.user + cpu.system) / 1e6, peakMiB: peakKiB / 1_024, heapMiB: heapBytes / mebibyte })}\n`,
);
process.exit(0);

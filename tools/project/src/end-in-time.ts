import { after } from 'node:test';
import { processorTimeMs } from '@metal/process/processor-time.ts';
import { recordTestTime } from './test-times.ts';

/**
 * Preloaded into every test file: if active resources keep the process of a file alive after its tests, it prints them and fails,
 * instead of blocking the whole run. Its processor time is recorded.
 */
const graceMs = Number(new URL(import.meta.url).searchParams.get('graceMs') ?? 60_000);

// The parent process of the files preloads it too and has no tests.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  process.once('exit', () => recordTestTime(process.argv[1] ?? '', processorTimeMs()));
  after(() => {
    setTimeout(() => {
      const resources = process.getActiveResourcesInfo().join(', ');
      process.stderr.write(`the tests of this file have ended, but active resources keep it alive: ${resources}\n`);
      process.exit(1);
    }, graceMs).unref();
  });
}

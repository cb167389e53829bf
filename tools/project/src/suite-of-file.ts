import { after, before, describe } from 'node:test';
import { processorTimeMs } from '@metal/process/processor-time.ts';
import { recordTestTime } from './test-times.ts';

/** A suite has the limit of its tests, which it passes on to them: files with several long tests need more. */
const testsInLimit = 3;

/** The tests of a file as a suite, so that the hooks of the file are those of the suite. Its processor time is recorded. */
export function suiteOfFile(path: string, timeoutMs: number, importFile: () => Promise<unknown>): void {
  describe(path, { timeout: timeoutMs * testsInLimit }, async () => {
    let startedAtMs = 0;
    before(() => {
      startedAtMs = processorTimeMs();
    });
    await importFile();
    // The last hook: those of the file have returned its control plane.
    after(() => recordTestTime(path, processorTimeMs() - startedAtMs));
  });
}

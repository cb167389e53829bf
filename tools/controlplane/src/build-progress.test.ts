import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countCompiled, countDownloads, countStale, progressLine } from './build-progress.ts';

test('the line has the compiled packages and the time that is left', () => {
  const line = (compiled: number, stale: number, minutes: number) =>
    progressLine({ compiled, stale, elapsedMs: minutes * 60_000 });
  assert.equal(line(1_204, 2_419, 3), 'compiled 1204 of 2419 packages, about 4 min left');
  assert.equal(line(2_400, 2_419, 5), 'compiled 2400 of 2419 packages, less than a minute left');
  assert.equal(line(20, 2_419, 1), 'compiled 20 of 2419 packages');
  assert.equal(line(2_419, 2_419, 5), 'compiled all 2419 packages, linking (300 s)');
});

test('packages that the build cache has are not counted, nor lines that are no packages', () => {
  const listed =
    'go: downloading k8s.io/api v0.36.3\nstale dependency: internal/cpu\nbuild ID mismatch\nnot installed but available in build cache\n';
  assert.equal(countStale(listed), 2);
  assert.equal(countDownloads(listed), 1);
  assert.equal(
    countCompiled('k8s.io/api/core/v1\ngo: downloading x v1\nerrors\n# k8s.io/api\nfile.go:1:2: unused\n'),
    2,
  );
});

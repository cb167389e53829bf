import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lockViolationsIn } from './check-lock.ts';

const lockOf = (...names: readonly string[]): string =>
  JSON.stringify({
    packages: {
      '': {},
      'node_modules/lint': { optionalDependencies: { '@lint/linux-x64': '1.0.0', '@lint/win32-x64': '1.0.0' } },
      ...Object.fromEntries(names.map((name) => [`node_modules/${name}`, { optional: true }])),
    },
  });

test('a lock file that lacks the program for another platform is reported with the remedy', () => {
  const [violation, ...others] = lockViolationsIn('package-lock.json', lockOf('@lint/linux-x64'));
  assert.match(
    violation?.message ?? '',
    /expected @lint\/win32-x64, which lint has .* npm install --package-lock-only/,
  );
  assert.deepEqual(others, []);
});

test('a lock file with the programs for all platforms is accepted, nested ones included', () => {
  assert.deepEqual(
    lockViolationsIn('package-lock.json', lockOf('@lint/linux-x64', 'lint/node_modules/@lint/win32-x64')),
    [],
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareVersions, versionsMatch } from './versions.ts';

const older: [string, string][] = [
  ['1.9', '1.10'],
  ['1.20.50.50', '1.20.60.10'],
  ['2.9.1', '2.19.1'],
  ['01.01.13', '01.02.01'],
  ['U54 v1.48', 'U54 v2.10'],
  ['U54 v1.48 (05/20/2023)', 'U54 v1.50 (01/02/2024)'],
  ['iLO 6 v1.55', 'iLO 6 v1.60'],
  ['1.55 Sep 20 2023', '1.60 Jan 10 2024'],
  ['1.48', 'U54 v1.50'],
  ['v1.2.3', '1.2.4'],
  ['ESE120T', 'ESE122A'],
  ['ESE120T', 'ESE120U'],
  ['R06_F31', 'R07_F01'],
  ['R06_F9', 'R06_F31'],
  ['3.4', '3.4a'],
  ['3.4a', '3.4b'],
  ['2.14.0-rc1', '2.14.0'],
  ['2.14', '2.14.1'],
  ['20.31.1014', '20.31.2006'],
  ['0x9', '0x1C'],
  ['00.1B', '00.1D'],
];
for (const [a, b] of older) {
  test(`${a} is older than ${b}`, () => {
    assert.equal(Math.sign(compareVersions(a, b) ?? Number.NaN), -1);
    assert.equal(Math.sign(compareVersions(b, a) ?? Number.NaN), 1);
  });
}

for (const [a, b] of [
  ['2.14', '2.14.0'],
  ['u54 V1.48', 'U54  v1.48'],
  ['01.01.13', '1.1.13'],
  ['U54 v1.48 (05/20/2023)', 'U54 v1.48'],
] as const) {
  test(`${a} and ${b} are of the same age`, () => {
    assert.equal(compareVersions(a, b), 0);
    assert.equal(compareVersions(b, a), 0);
  });
}

for (const [a, b] of [
  ['U54 v1.48', 'U46 v2.10'],
  ['ESE120T', 'DVI120T'],
  ['1.4-deadbeef', '1.4-cafe'],
  ['', '1.0'],
  ['iLO 5 v2.78', 'iLO 6 v1.55'],
  ['1.4 alternate', '1.4'],
] as const) {
  test(`the order of "${a}" and "${b}" is unknown`, () => {
    assert.equal(compareVersions(a, b), undefined);
    assert.equal(compareVersions(b, a), undefined);
  });
}

test('versions match up to letter case and spaces', () => {
  assert.ok(versionsMatch('U54 v1.48', ' u54 V1.48 '));
  assert.ok(!versionsMatch('1.4', '1.40'));
});

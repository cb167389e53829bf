import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Raid } from '@metal/api/metal3/raid.ts';
import { isRaidDirty, raidPlan, raidTarget } from './raid-target.ts';

const hardware: Raid = { hardwareRAIDVolumes: [{ level: '1' }] };
const software: Raid = { softwareRAIDVolumes: [{ level: '1', rootVolume: true }] };
const noSoftware: Raid = { softwareRAIDVolumes: [] };

const targets: [title: string, wanted: Raid | undefined, applied: Raid | undefined, target: Raid | undefined][] = [
  ['nothing wanted, nothing applied', undefined, undefined, undefined],
  ['an empty wish, nothing applied', {}, undefined, undefined],
  ['lists of null, nothing applied', { hardwareRAIDVolumes: null, softwareRAIDVolumes: null }, undefined, undefined],
  ['nothing wanted keeps hardware RAID', undefined, hardware, { ...hardware, ...noSoftware }],
  ['nothing wanted removes software RAID', {}, software, noSoftware],
  ['a wish is taken as it is', hardware, software, hardware],
  ['an empty list is a wish', noSoftware, undefined, noSoftware],
];
for (const [title, wanted, applied, target] of targets)
  test(`target of RAID: ${title}`, () => assert.deepEqual(raidTarget(wanted, applied), target));

test('null and an absent list are the same, an empty list is another', () => {
  assert.equal(isRaidDirty({ hardwareRAIDVolumes: null }, undefined), false);
  assert.equal(isRaidDirty({ hardwareRAIDVolumes: [] }, undefined), true);
  assert.equal(isRaidDirty(hardware, { ...hardware, softwareRAIDVolumes: null }), false);
});

const [remove, erase, create] = [
  'raid.delete_configuration',
  'deploy.erase_devices_metadata',
  'raid.create_configuration',
];
const plans: [
  title: string,
  target: Raid | undefined,
  applied: Raid | undefined,
  steps: (string | undefined)[],
  isSoftware: boolean,
][] = [
  ['nothing', undefined, undefined, [], false],
  ['new software RAID', software, undefined, [remove, erase, create], true],
  ['software RAID that is there', software, software, [], false],
  ['software RAID to remove', noSoftware, software, [remove, erase], true],
  ['no software RAID to remove', noSoftware, undefined, [], false],
  ['new hardware RAID', hardware, undefined, [remove, create], false],
  ['hardware RAID to remove', { hardwareRAIDVolumes: [] }, hardware, [remove], false],
  ['hardware RAID that is there', { ...hardware, ...noSoftware }, hardware, [], false],
  ['hardware RAID that is not mentioned', noSoftware, { ...hardware, ...software }, [remove, erase], true],
];
for (const [title, target, applied, steps, isSoftware] of plans)
  test(`steps for ${title}`, () =>
    assert.deepEqual(raidPlan({ target, applied, hasHardwareRaid: true }), { kind: 'steps', steps, isSoftware }));

test('hardware RAID needs a driver for it, and does not change together with software RAID', () => {
  assert.equal(raidPlan({ target: hardware, applied: undefined, hasHardwareRaid: false }).kind, 'problem');
  assert.equal(raidPlan({ target: software, applied: undefined, hasHardwareRaid: false }).kind, 'steps');
  const both = { ...hardware, ...noSoftware };
  assert.equal(raidPlan({ target: both, applied: software, hasHardwareRaid: true }).kind, 'problem');
});

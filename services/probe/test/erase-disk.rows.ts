import type { DiskFacts } from '../src/erase/disk-facts.ts';

/** A disk of 16 MiB without a command set, as a base for tests. */
export const testDisk: DiskFacts = {
  name: 'sda',
  vendor: '',
  model: 'M',
  serial: 'S',
  wwid: 'W',
  removable: false,
  readOnly: false,
  logicalBlockSize: 512,
  sizeBytes: 16 * 1_048_576,
  commands: 'none',
  controller: 'sda',
  deviceNumber: '8:0',
  deviceNumbers: new Map(),
  writesZeroes: false,
  partitions: [],
  holders: [],
};

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nvmeAbilitiesIn, type SanitizeStatus, sanitizeStatusIn } from './nvme.ts';

/** Output of nvme-cli 2.3, shortened. */
const controller = ({ oacs, sanicap, fna }: { oacs: string; sanicap: string; fna: string }): string => `\
NVME Identify Controller:
vid       : 0x144d
sn        : S4EWNX0R000001
mn        : SAMSUNG MZVLB512HBJQ-000L7
ver       : 0x10300
oaes      : 0x200
oacs      : ${oacs}
sanicap   : ${sanicap}
anacap    : 0
oncs      : 0x5f
fna       : ${fna}
vwc       : 0x7
`;

const none = { sanitizeCrypto: false, sanitizeBlock: false, format: false, formatCrypto: false, formatsAll: false };
const abilities: [string, Parameters<typeof controller>[0], Partial<typeof none>][] = [
  ['nothing', { oacs: '0', sanicap: '0', fna: '0' }, {}],
  ['format without cryptographic erase', { oacs: '0x17', sanicap: '0', fna: '0' }, { format: true }],
  ['format with cryptographic erase', { oacs: '0x17', sanicap: '0', fna: '0x4' }, { format: true, formatCrypto: true }],
  ['sanitize in both ways', { oacs: '0', sanicap: '0x3', fna: '0' }, { sanitizeCrypto: true, sanitizeBlock: true }],
  ['sanitize by block erase', { oacs: '0', sanicap: '0xa0000002', fna: '0' }, { sanitizeBlock: true }],
  ['a format of all namespaces', { oacs: '0x2', sanicap: '0', fna: '0x1' }, { format: true, formatsAll: true }],
  [
    'a secure erase of all',
    { oacs: '0x2', sanicap: '0', fna: '0x6' },
    { format: true, formatCrypto: true, formatsAll: true },
  ],
];
for (const [title, fields, expected] of abilities) {
  test(`the Identify data of a controller with ${title} is parsed`, () => {
    assert.deepEqual(nvmeAbilitiesIn(controller(fields)), { ...none, ...expected });
  });
}

const log = (progress: string, status: string): string => `\
Sanitize Progress                      (SPROG) :  ${progress}
Sanitize Status                        (SSTAT) :  ${status}
Sanitize Command Dword 10 Information (SCDW10) :  0x2
Estimated Time For Overwrite                   :  4294967295 (No time period reported)
Estimated Time For Block Erase                 :  90
`;
const statuses: [string, string, string, SanitizeStatus | undefined][] = [
  ['of a new disk', '65535', '0', { state: 'never', fraction: 1, sstat: '0' }],
  ['of a disk with a sanitize in progress', '32768', '0x2', { state: 'running', fraction: 0.5, sstat: '0x2' }],
  ['with percents', '16384 (25.000000%)', '0x102', { state: 'running', fraction: 0.25, sstat: '0x102' }],
  ['of a sanitized disk', '65535', '0x101', { state: 'succeeded', fraction: 1, sstat: '0x101' }],
  ['of a disk sanitized without deallocation', '65535', '0x4', { state: 'succeeded', fraction: 1, sstat: '0x4' }],
  ['of a failed sanitize', '65535', '0x3', { state: 'failed', fraction: 1, sstat: '0x3' }],
  ['with an unknown status', '65535', '0x7', undefined],
];
for (const [title, progress, status, expected] of statuses) {
  test(`a sanitize log ${title} is parsed`, () => {
    assert.deepEqual(sanitizeStatusIn(log(progress, status)), expected);
  });
}

test('text that is not a sanitize log yields no status', () => {
  assert.equal(sanitizeStatusIn('NVMe status: INVALID_LOG_PAGE'), undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AtaSecurity, ataSecurityIn } from './ata.ts';

const head = `
/dev/sda:

ATA device, with non-removable media
	Model Number:       Samsung SSD 860 EVO 500GB
Commands/features:
	Enabled	Supported:
	   *	SMART feature set
	    	Security Mode feature set
`;
const tail = `Logical Unit WWN Device Identifier: 5002538e40a00001
	NAA		: 5
Checksum: correct
`;

/** Output of hdparm 9.65. */
const recorded: [string, string, AtaSecurity][] = [
  [
    'a disk that is ready',
    `Security: 
	Master password revision code = 65534
		supported
	not	enabled
	not	locked
	not	frozen
	not	expired: security count
		supported: enhanced erase
	4min for SECURITY ERASE UNIT. 8min for ENHANCED SECURITY ERASE UNIT.
`,
    {
      supported: true,
      enabled: false,
      locked: false,
      frozen: false,
      enhanced: true,
      normalTime: '4min',
      enhancedTime: '8min',
    },
  ],
  [
    'a frozen disk without enhanced erase',
    `Security: 
	Master password revision code = 65534
		supported
	not	enabled
	not	locked
		frozen
	not	expired: security count
	not	supported: enhanced erase
	166min for SECURITY ERASE UNIT. 
`,
    {
      supported: true,
      enabled: false,
      locked: false,
      frozen: true,
      enhanced: false,
      normalTime: '166min',
      enhancedTime: '',
    },
  ],
  [
    'a disk that lost power during an erase',
    `Security: 
	Master password revision code = 65534
		supported
		enabled
		locked
	not	frozen
	not	expired: security count
		supported: enhanced erase
	Security level high
	more than 508min for SECURITY ERASE UNIT. more than 508min for ENHANCED SECURITY ERASE UNIT.
`,
    {
      supported: true,
      enabled: true,
      locked: true,
      frozen: false,
      enhanced: true,
      normalTime: '508min',
      enhancedTime: '508min',
    },
  ],
  [
    'a disk without the feature set',
    '',
    {
      supported: false,
      enabled: false,
      locked: false,
      frozen: false,
      enhanced: false,
      normalTime: '',
      enhancedTime: '',
    },
  ],
];
for (const [title, section, expected] of recorded) {
  test(`the Security section of ${title} is parsed`, () => {
    assert.deepEqual(ataSecurityIn(`${head}${section}${tail}`), expected);
  });
}

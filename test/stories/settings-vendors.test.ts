import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { testSettingsOf } from '../fixtures/vendor-settings-fixture.ts';

const startTestenv = testenvsOfFile();

// One that has all in one group, and one with groups of its own; the others are in the matrix.
for (const vendor of ['generic', 'dell'] as const) testSettingsOf(vendor, startTestenv);

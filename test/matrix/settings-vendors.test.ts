import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { testSettingsOf, vendorsWithSettings } from '../fixtures/vendor-settings-fixture.ts';

const startTestenv = testenvsOfFile();

for (const vendor of vendorsWithSettings)
  if (vendor !== 'generic' && vendor !== 'dell') testSettingsOf(vendor, startTestenv);

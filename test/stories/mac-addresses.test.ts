import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { testDuplicateMacAddress } from '../fixtures/mac-addresses-fixture.ts';

testDuplicateMacAddress(testenvsOfFile(), 'elect a leader', ['--leader-elect']);

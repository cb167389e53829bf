import { type Vendor, vendorOf } from '../vendors.ts';
import { type SshCommand, SshError, type SshOutcome, runOverSsh } from './ssh.ts';

/** The command that restarts the BMC. */
const resetCommands: ReadonlyMap<Vendor | undefined, string> = new Map([
  ['Dell', 'racreset'],
  ['HPE', 'cd /map1 && reset'],
  ['Lenovo', 'resetsp'],
]);

/** Restarts a BMC through its shell. @throws SshError for a manufacturer without a known command. */
export async function resetOverSsh(manufacturer: string, access: Omit<SshCommand, 'command'>): Promise<SshOutcome> {
  const command = resetCommands.get(vendorOf(manufacturer));
  if (command !== undefined) return runOverSsh({ ...access, command });
  throw new SshError(
    'SshFailed',
    `no SSH command is known that restarts a BMC of manufacturer "${manufacturer}"; one is known for ${[...resetCommands.keys()].join(', ')}`,
  );
}

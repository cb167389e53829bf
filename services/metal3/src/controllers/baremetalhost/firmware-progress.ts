import type { Started } from '../../provisioner/provisioner.ts';
import type { HostWork } from './work.ts';

/** What a preparation or a servicing says about the firmware. */
export async function saveFirmware(work: HostWork, { result, isStarted }: Started): Promise<void> {
  const { settings, updates } = work.firmware;
  if (updates.length > 0 && result.kind === 'failed') await work.saveUpdates('failed');
  else if (updates.length > 0 && isStarted) await work.saveUpdates('started');
  if (result.kind === 'done' && (updates.length > 0 || Object.keys(settings).length > 0)) work.forgetFirmware();
}

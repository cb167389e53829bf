import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { LocatorLight } from '@metal/redfish/resources/led.ts';
import type { SentSetting, ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';

/** A setting of the machine that is wanted, and whether anything is left to do about it. */
export interface SettingFacts {
  /** Undefined when nothing is wanted. */
  readonly desired: string | undefined;
  readonly isDone: boolean;
  readonly rejection: string | undefined;
}

const lights = new Set<string>(['Lit', 'Blinking', 'Off'] satisfies LocatorLight[]);

/** The light of a maintenance goes before the one of the server, as the technician stands in front of it. */
export function lightFacts(
  server: Server,
  maintenance: ServerMaintenance | undefined,
  memory: ObservedSystem,
): SettingFacts {
  const desired = [maintenance?.spec.locatorLED, server.spec.indicatorLED].find((light) => lights.has(light ?? ''));
  const seen = memory.state?.value.indicatorLED;
  return settingFacts(desired, seen, memory.light);
}

export const wantedDevices = ({ bootOrder = [] }: Server['spec']): string[] =>
  bootOrder.toSorted((a, b) => a.priority - b.priority).map(({ device }) => device);

/** Devices by ascending priority, as one comparable text. */
export function bootOrderFacts({ spec }: Server, { state, bootOrder }: ObservedSystem): SettingFacts {
  const devices = wantedDevices(spec);
  const desired = devices.length === 0 ? undefined : devices.join(' ');
  const seen = state?.value.bootOrder?.slice(0, devices.length).join(' ');
  return settingFacts(desired, seen, bootOrder);
}

function settingFacts(
  desired: string | undefined,
  seen: string | undefined,
  sent: SentSetting | undefined,
): SettingFacts {
  const known = sent?.desired === desired ? sent : undefined;
  return {
    desired,
    isDone: desired === undefined || desired === seen || known !== undefined,
    rejection: known?.rejection,
  };
}

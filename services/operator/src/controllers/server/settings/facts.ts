import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { LocatorLight } from '@metal/redfish/resources/led.ts';
import type { ObservedSystem, SentSetting } from '../../../bmc-connections/observed-state.ts';

export interface SettingsFacts {
  /** The locator light. */
  readonly light: SettingFacts;
  readonly bootOrder: SettingFacts;
  /** IndicatorLED as last observed. */
  readonly led: string | undefined;
  /** BootOrder as last observed. */
  readonly seenBootOrder: readonly string[] | undefined;
}

/** A desired setting of the machine. */
export interface SettingFacts {
  /** Undefined when the spec leaves it open. */
  readonly desired: string | undefined;
  /** Nothing is left to send: it is observed, was sent, or was rejected. */
  readonly isDone: boolean;
  readonly rejection: string | undefined;
}

export const settingsFacts = (
  server: Server,
  maintenance: ServerMaintenance | undefined,
  memory: ObservedSystem,
): SettingsFacts => ({
  light: lightFacts(server, maintenance, memory),
  bootOrder: bootOrderFacts(server, memory),
  led: memory.state?.value.indicatorLED,
  seenBootOrder: memory.state?.value.bootOrder,
});

const lights = new Set<string>(['Lit', 'Blinking', 'Off'] satisfies LocatorLight[]);

/** The light of a maintenance overrides the one of the server: a technician stands in front of the machine. */
function lightFacts(server: Server, maintenance: ServerMaintenance | undefined, memory: ObservedSystem): SettingFacts {
  const desired = [maintenance?.spec.locatorLED, server.spec.indicatorLED].find((light) => lights.has(light ?? ''));
  const seen = memory.state?.value.indicatorLED;
  return settingFacts(desired, seen, memory.light);
}

/** Devices of `spec.bootOrder` by ascending priority. */
export const wantedDevices = ({ bootOrder = [] }: Server['spec']): string[] =>
  bootOrder.toSorted((a, b) => a.priority - b.priority).map(({ device }) => device);

/** One text, to be compared and shown. */
export const bootOrderText = (devices: readonly string[]): string => devices.join(', ');

function bootOrderFacts({ spec }: Server, { state, bootOrder }: ObservedSystem): SettingFacts {
  const devices = wantedDevices(spec);
  const desired = devices.length === 0 ? undefined : bootOrderText(devices);
  const seen = state && bootOrderText(state.value.bootOrder?.slice(0, devices.length) ?? []);
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

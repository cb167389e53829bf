import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { LocatorLight } from '@metal/redfish/resources/led.ts';
import type { ObservedSystem, SentSetting } from '../../../bmc-connections/observed-state.ts';

export interface SettingsFacts {
  /** The locator light. */
  readonly light: SettingFacts;
  readonly bootOrder: SettingFacts;
  /** The desired devices, first to last. */
  readonly bootOrderDevices: readonly string[];
  /** The light is as a maintenance wants it. */
  readonly isLightOfMaintenance: boolean;
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
  ...bootOrderFacts(server, memory),
  isLightOfMaintenance: lights.has(maintenance?.spec.locatorLED ?? ''),
  led: memory.state?.value.indicatorLED,
  seenBootOrder: memory.state?.value.bootOrder,
});

const lights = new Set<string>(['Lit', 'Blinking', 'Off'] satisfies LocatorLight[]);

/**
 * The light of a maintenance overrides the one of the server: a technician stands in front of the machine. After it the light is
 * as it was, also where the spec leaves it open.
 */
function lightFacts(server: Server, maintenance: ServerMaintenance | undefined, memory: ObservedSystem): SettingFacts {
  const desired = [
    maintenance?.spec.locatorLED,
    server.spec.indicatorLED,
    server.status?.maintenance?.indicatorLED,
  ].find((light) => lights.has(light ?? ''));
  const seen = memory.state?.value.indicatorLED;
  return settingFacts(desired, seen, memory.light);
}

/** Devices of `spec.bootOrder` by ascending priority. */
export const wantedDevices = ({ bootOrder = [] }: Server['spec']): string[] =>
  bootOrder.toSorted((a, b) => a.priority - b.priority).map(({ device }) => device);

/** One text, to be compared and shown. */
export const bootOrderText = (devices: readonly string[]): string => devices.join(', ');

function bootOrderFacts(
  server: Server,
  { state, bootOrder }: ObservedSystem,
): Pick<SettingsFacts, 'bootOrder' | 'bootOrderDevices'> {
  const devices = desiredDevices(server, state?.value.bootOrder);
  const desired = devices.length === 0 ? undefined : bootOrderText(devices);
  const seen = state && bootOrderText(state.value.bootOrder?.slice(0, devices.length) ?? []);
  return { bootOrder: settingFacts(desired, seen, bootOrder), bootOrderDevices: devices };
}

/** A maintenance may change the order. At its end it is as specified, or as it was, as far as the devices still exist. */
function desiredDevices({ spec, status }: Server, seen: readonly string[] = []): string[] {
  const wanted = wantedDevices(spec);
  if (status?.state !== 'Maintenance') return wanted;
  if (spec.serverMaintenanceRef !== undefined) return [];
  return wanted.length > 0 ? wanted : (status.maintenance?.bootOrder ?? []).filter((device) => seen.includes(device));
}

function settingFacts(
  desired: string | undefined,
  seen: string | undefined,
  sent: SentSetting | undefined,
): SettingFacts {
  const known = sent?.desired === desired ? sent : undefined;
  return {
    desired,
    // After another value was sent, the last observation may be older than that.
    isDone: desired === undefined || known !== undefined || (sent === undefined && desired === seen),
    rejection: known?.rejection,
  };
}

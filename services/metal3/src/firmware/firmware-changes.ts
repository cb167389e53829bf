import type { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import type { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import { isPasswordName } from './setting-problem.ts';

type Settings = HostFirmwareSettings['spec']['settings'];
type Update = HostFirmwareComponents['spec']['updates'][number];

/** Desired settings that differ from those in use, with their types. Passwords are not changed this way. */
export const changedSettings = (wanted: Settings, inUse: Readonly<Record<string, string>>): Settings =>
  Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => !isPasswordName(name) && inUse[name] !== String(value)),
  );

/** Desired updates that were not started yet; all of them before the first one. */
export const changedUpdates = (wanted: readonly Update[], started: readonly Update[] | undefined): Update[] =>
  wanted.filter(({ component, url }) => !started?.some((known) => known.component === component && known.url === url));

/** Ironic updates no other component. */
export const isUpdatable = (component: string): boolean =>
  component === 'bios' || component === 'bmc' || /^nic:./.test(component);

/** A step of a manual cleaning, or of a servicing. */
export interface FirmwareStep {
  readonly interface: 'bios' | 'firmware';
  readonly step: 'apply_configuration' | 'update';
  readonly args: { readonly settings: readonly object[] };
}

/** Settings first, as their names may change with the firmware. */
export function firmwareSteps(settings: Settings, updates: readonly Update[]): FirmwareStep[] {
  const values = Object.entries(settings).map(([name, value]) => ({ name, value }));
  return [
    ...(values.length === 0 ? [] : [step('bios', 'apply_configuration', values)]),
    ...(updates.length === 0
      ? []
      : [
          step(
            'firmware',
            'update',
            updates.map(({ component, url }) => ({ component, url })),
          ),
        ]),
  ];
}

const step = (
  name: FirmwareStep['interface'],
  action: FirmwareStep['step'],
  settings: readonly object[],
): FirmwareStep => ({
  interface: name,
  step: action,
  args: { settings },
});

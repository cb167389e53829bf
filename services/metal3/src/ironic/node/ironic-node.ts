import * as z from 'zod';

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const info = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((value) => value ?? {});

/** A node of Ironic, as far as it is used here. A text is empty instead of null. */
export const ironicNode = z.object({
  uuid: z.string(),
  name: text,
  provision_state: z.string(),
  /** A state, not a verb: manageable, available, active. */
  target_provision_state: text,
  power_state: text,
  target_power_state: text,
  last_error: text,
  maintenance: z.boolean().nullish(),
  /** What set the maintenance; empty if a person did. */
  fault: text,
  health: text,
  driver: z.string(),
  driver_info: info,
  properties: info,
  instance_info: info,
  extra: info,
  network_data: info,
  instance_uuid: text,
  automated_clean: z.boolean().nullish(),
  disable_power_off: z.boolean().nullish(),
  deploy_interface: text,
  inspect_interface: text,
  raid_interface: text,
});
export type IronicNode = z.output<typeof ironicNode>;

export const powerFailure = 'power failure';

/** In the order of their use. */
export type ProvisionVerb =
  | 'manage'
  | 'inspect'
  | 'adopt'
  | 'clean'
  | 'provide'
  | 'active'
  | 'service'
  | 'deleted'
  | 'abort';

export type PowerTarget = 'power on' | 'power off' | 'soft power off' | 'rebooting' | 'soft rebooting';

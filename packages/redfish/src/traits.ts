import type * as z from 'zod';
import type { boot } from './schemas.ts';
import { type Vendor, vendorOf } from './vendors.ts';

type Boot = z.output<typeof boot>;

/** Deviations of a vendor from the standard: data or pure functions, so that there is nothing to override. */
export interface Traits {
  /** Members of Boot to add to a one-time override. */
  overrideMode(current: Boot): { BootSourceOverrideMode?: 'UEFI' };
  /** Members of an event subscription that the BMC rejects. */
  readonly rejectedInSubscription: readonly string[];
  /** Special characters that a password may hold; some firmware release rejects or mangles every other printable one. */
  readonly passwordSpecials: string;
  readonly update: UpdateTraits;
}

/** Deviations of firmware updates. */
export interface UpdateTraits {
  /**
   * An update names its apply time: OnReset where it is offered, so that the BMC does not restart the machine by itself, and Immediate
   * for the firmware of the BMC.
   */
  readonly namesApplyTime: boolean;
  /** A push must name its targets. */
  readonly pushNeedsTargets: boolean;
  /** HttpPushUri takes the image as the body; elsewhere a protocol of the vendor. */
  readonly pushesBody: boolean;
}

const standardUpdate: UpdateTraits = { namesApplyTime: false, pushNeedsTargets: false, pushesBody: true };

const standard: Traits = {
  // A BMC that reports no mode rejects one. Naming UEFI needlessly switches Secure Boot off in some firmware.
  overrideMode: ({ BootSourceOverrideMode: mode }) =>
    mode === undefined || mode === 'UEFI' ? {} : { BootSourceOverrideMode: 'UEFI' },
  rejectedInSubscription: [],
  passwordSpecials: '!@#$%&*()_-+=[]{}/?~|',
  update: standardUpdate,
};

const vendorTraits: Readonly<Record<Vendor, Partial<Traits>>> = {
  Dell: {
    passwordSpecials: '!#$%&*()-.?@[]^_`{}|~+=',
    // Its HttpPushUri takes a form, and only stores the image.
    update: { ...standardUpdate, namesApplyTime: true, pushesBody: false },
  },
  HPE: {
    rejectedInSubscription: ['DeliveryRetryPolicy'],
    passwordSpecials: '~`!@#$%^&*()_-+={[}]|.?/',
    // Its HttpPushUri takes a form with a session key.
    update: { ...standardUpdate, pushesBody: false },
  },
  Lenovo: { passwordSpecials: ';@!$%-+=[]{}|/?~_' },
  // Newer boards ignore the override unless the mode is spelled out, even when it is UEFI already.
  Supermicro: {
    overrideMode: ({ BootSourceOverrideMode: mode }) => (mode === undefined ? {} : { BootSourceOverrideMode: 'UEFI' }),
    update: { ...standardUpdate, pushNeedsTargets: true },
  },
};

/** Traits by Manufacturer of Redfish; those of the standard for an unknown one. */
export function traitsOf(manufacturer: string | undefined): Traits {
  const vendor = vendorOf(manufacturer);
  return vendor === undefined ? standard : { ...standard, ...vendorTraits[vendor] };
}

import type { BMC } from '@metal/api/v1alpha1/bmc.ts';

/** A login that a BMC rejected, as it stands in the status. */
export type RejectedLogin = NonNullable<NonNullable<BMC['status']>['rejectedLogin']>;

/** What a login at a BMC is made of. While all of it is as it was, a BMC that rejected it is not asked again. */
export type Login = Omit<RejectedLogin, 'message'>;

export const isSameLogin = (one: Login | undefined, other: Login): boolean =>
  one?.bmcSecretVersion === other.bmcSecretVersion &&
  one.address === other.address &&
  one.generation === other.generation;

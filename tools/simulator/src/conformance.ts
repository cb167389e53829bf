import { profiles, type VendorProfile } from './profiles.ts';

/** A quirk that breaks the protocol, with the assertions of DMTF's Redfish-Protocol-Validator that it fails. */
export interface Violation {
  readonly quirk: keyof VendorProfile;
  readonly isIn: (profile: VendorProfile) => boolean;
  readonly assertions: readonly string[];
}

/** Every violation of the profiles; anything else that a profile fails is a defect of the simulator. */
export const violations: readonly Violation[] = [
  {
    quirk: 'sessionCap',
    isIn: ({ sessionCap }) => sessionCap === undefined,
    assertions: [
      'REQ_HEADERS_AUTHORIZATION',
      'REQ_POST_CREATE_TO_MEMBERS_PROP',
      'REQ_POST_CREATE_VIA_COLLECTION',
      'REQ_QUERY_INVALID_VALUES',
      'SEC_BASIC_AUTH_STANDALONE',
      'SEC_BOTH_AUTH_TYPES',
      'SEC_REQUIRE_LOGIN_SESSIONS',
      'SEC_SESSIONS_URI_LOCATION',
      'SEC_SUPPORT_BASIC_AUTH',
      'SEC_WRITE_REQUIRES_AUTH',
    ],
  },
  {
    quirk: 'roleNeedsPassword',
    isIn: ({ roleNeedsPassword }) => roleNeedsPassword,
    assertions: ['PROTO_ETAG_IF_MATCH_ENFORCED'],
  },
  {
    quirk: 'locatesSubscriptions',
    isIn: ({ locatesSubscriptions }) => !locatesSubscriptions,
    assertions: ['SERV_EVENT_POST_RESP'],
  },
];

/** Names of the assertions that a profile fails by its quirks, in order. */
export const failedAssertions = (profile: VendorProfile): string[] =>
  violations.flatMap(({ isIn, assertions }) => (isIn(profile) ? assertions : [])).toSorted();

/** Properties that identify a BMC. Every other difference from the generic profile is a quirk. */
const identifiers = new Set([
  'manufacturer',
  'model',
  'bmcModel',
  'firmwareVersion',
  'biosVersion',
  'systemId',
  'managerId',
  'chassisId',
  'storageId',
  'macPrefix',
  'firmware',
  'bios',
  'managerAttributes',
  'managerResources',
  'managerCollections',
]);

/** Differences of a profile from the generic one, as names and values. */
export const quirksOf = (profile: VendorProfile): (readonly [name: string, value: unknown])[] =>
  Object.entries(profile).filter(
    ([name, value]) =>
      !identifiers.has(name) && JSON.stringify(value) !== JSON.stringify(Reflect.get(profiles.generic, name)),
  );

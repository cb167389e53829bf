import { rule } from '@metal/kube/kinds/cel.ts';
import * as z from 'zod';

/** Fields that several kinds share. Patterns and defaults are those of metal.ironcore.dev/v1alpha1 unless a comment says otherwise. */

export const text = () => z.string();
export const int32 = () => z.int().meta({ format: 'int32' });
export const int64 = () => z.int().meta({ format: 'int64' });
export const time = () => z.string().meta({ format: 'date-time' });

/**
 * A value that the API server fills in, on writes and for stored objects: optional in manifests, always present in
 * objects that are read. A spec defaults to Go's zero values, as in v0.7.0: manifests that v0.7.0 accepted stay valid,
 * and code never sees an object without a spec.
 */
export const defaulted = <S extends z.ZodType>(schema: S, value: z.input<S>): S =>
  schema.meta({ ...schema.meta(), default: value });

export const localRef = () =>
  z
    .object({ name: defaulted(z.string().describe('Name of the object.'), '') })
    .meta({ 'x-kubernetes-map-type': 'atomic' });
export const objectRef = () =>
  z.object({
    namespace: z.string().describe('Namespace of the object.'),
    name: z.string().describe('Name of the object.'),
  });
/** A claim that may be deleted. */
export const formerClaim = () =>
  z.object({
    namespace: z.string().describe('Namespace of the claim.'),
    name: z.string().describe('Name of the claim.'),
    uid: z.string().optional().describe('UID of the claim.'),
  });

/**
 * Go's netip accepts zones and IPv4-mapped IPv6 addresses; CEL's isIP accepts neither. So the rule strips the zone and
 * replaces the prefix of mapped addresses by one that isIP accepts.
 */
const isAddress = "isIP(self.split('%', 2)[0].lowerAscii().replace('ffff:', 'fffe:'))";
const zoneBelongsToIpv6 = "(!self.contains('%') || self.matches('^[^%]*:[^%]*%.+$'))";

/** IPv4 or IPv6 address. In v0.7.0 one object with other text made all objects of the kind unreadable. */
export const ipAddress = () =>
  rule(
    z.string().max(128),
    `${isAddress} && ${zoneBelongsToIpv6}`,
    'expected an IPv4 or IPv6 address such as 192.0.2.10 or 2001:db8::10',
  );

/**
 * Six octets in hex, in any usual notation and case. Empty means absent, because templates write empty text. A rule
 * instead of a pattern, because a rule has a message.
 */
export const macAddress = () =>
  rule(
    z.string().max(32),
    "self.matches('^(([0-9A-Fa-f]{2}[:-]?){5}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{4}[.]){2}[0-9A-Fa-f]{4})?$')",
    'expected a MAC address such as aa:bb:cc:dd:ee:ff, aa-bb-cc-dd-ee-ff, aabb.ccdd.eeff or aabbccddeeff',
  );

/** A desired state that may be empty. Other values had no effect in v0.7.0. */
export const desiredPower = () => z.enum(['On', 'Off', '']);
export const desiredLed = () => z.enum(['Unknown', 'Lit', 'Blinking', 'Off', '']);

const quantityPattern =
  /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/;
export const quantity = () => z.string().regex(quantityPattern).meta({ 'x-kubernetes-int-or-string': true });

export const labelSelector = () =>
  z
    .object({
      matchExpressions: z
        .array(
          z.object({
            key: z.string().describe('Label key.'),
            operator: z.string().describe('Operator: In, NotIn, Exists or DoesNotExist.'),
            values: z
              .array(z.string())
              .meta({ 'x-kubernetes-list-type': 'atomic' })
              .optional()
              .describe('Values for In and NotIn.'),
          }),
        )
        .meta({ 'x-kubernetes-list-type': 'atomic' })
        .optional()
        .describe('Label requirements. All of them must match.'),
      matchLabels: z.record(z.string(), z.string()).optional().describe('Required labels, with their values.'),
    })
    .meta({ 'x-kubernetes-map-type': 'atomic' });

const conditionItem = () =>
  z.object({
    type: z
      .string()
      .max(316)
      .regex(
        /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
      )
      .describe('Type of the condition.'),
    status: z.enum(['True', 'False', 'Unknown']).describe('Status of the condition: True, False or Unknown.'),
    reason: z
      .string()
      .min(1)
      .max(1_024)
      .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
      .describe('Machine-readable reason (CamelCase).'),
    message: z.string().max(32_768).describe('Human-readable message: the current situation and the next step.'),
    lastTransitionTime: time().describe('Time of the last change of the status.'),
    observedGeneration: int64().min(0).optional().describe('metadata.generation that the condition was computed for.'),
  });

/** As in v0.7.0: a list without keys. */
export const plainConditions = () => z.array(conditionItem()).optional().describe('Conditions of the object.');

/** Keyed by type, so that several programs can each own their conditions and each type occurs once. */
export const conditions = () =>
  z
    .array(conditionItem())
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
    .optional()
    .describe('Conditions of the object, one per type.');

export const taint = () =>
  z.object({
    key: z.string().min(1).describe('Key of the taint.'),
    value: z.string().optional().describe('Value of the taint.'),
    effect: defaulted(
      z
        .enum(['NoBind', 'Evict'])
        .describe(
          'NoBind: no new claim is bound to the server. Evict: in addition, a bound claim is evicted after a grace period. Default: NoBind.',
        ),
      'NoBind',
    ),
  });

export const toleration = () =>
  z.object({
    key: z.string().min(1).describe('Key of the taint.'),
    operator: z
      .enum(['Equal', 'Exists'])
      .optional()
      .describe('Equal compares the value, Exists ignores it. Default: Equal.'),
    value: z.string().optional().describe('Value of the taint, for operator Equal.'),
    effect: z.enum(['NoBind', 'Evict']).optional().describe('Tolerated effect. Default: both.'),
  });

/** Rejected logins count towards the lockout of the account: no process repeats the login while these fields are unchanged. */
export const rejectedLogin = () =>
  z.object({
    bmcSecretVersion: z.string().describe('UID and resource version of the BMCSecret with the password.'),
    address: z.string().describe('Address of the attempt, for example https://192.0.2.7:443.'),
    message: z.string().describe('Error message.'),
  });

/** Verification of a BMC certificate, an addition to v0.7.0. Also in the MAC prefix database. */
export const tls = () =>
  z.object({
    caBundle: z
      .string()
      .optional()
      .describe('CA certificates (PEM) that the certificate of the BMC is verified against.'),
    fingerprint: z
      .string()
      .regex(/^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$/, 'expected a SHA-256 fingerprint, 64 hex digits')
      .optional()
      .describe('SHA-256 fingerprint of the certificate. If set, no other certificate is trusted.'),
    insecureSkipVerify: z.boolean().optional().describe('Skips verification of the certificate. Default: false.'),
  });

/** Protocol of a BMC. */
export const protocol = () =>
  z.object({
    name: z
      .string()
      .describe(
        'Redfish. RedfishLocal and RedfishWithRegistryPatch are for test servers. Any other value is reported in the conditions.',
      ),
    port: int32().describe('TCP port.'),
    scheme: z.enum(['http', 'https', '']).optional().describe('http or https. Default: operator option --protocol.'),
    tls: tls().optional().describe('Verification of the certificate of the BMC.'),
  });

export const retryPolicy = () =>
  z
    .object({
      maxAttempts: int32().min(0).max(10).optional().describe('Number of automatic retries after a failure, 0 to 10.'),
    })
    .optional()
    .describe('Retries after failures.');

export const group = 'metal.ironcore.dev';
export const version = 'v1alpha1';
export const readyColumn = '.status.conditions[?(@.type=="Ready")].status';
/** Reason of the condition Ready; with `-o wide`, its message too. */
export const readyColumns = {
  Reason: '.status.conditions[?(@.type=="Ready")].reason',
  Message: { path: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
} as const;
export const age = { Age: { path: '.metadata.creationTimestamp', type: 'date' } } as const;

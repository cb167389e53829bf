import { rule } from '@metal/kube/kinds/cel.ts';
import * as z from 'zod';

/** Fields that several kinds share. Patterns and defaults are facts of metal.ironcore.dev/v1alpha1 unless said otherwise. */

export const text = () => z.string();
export const int32 = () => z.int().meta({ format: 'int32' });
export const int64 = () => z.int().meta({ format: 'int64' });
export const time = () => z.string().meta({ format: 'date-time' });

/**
 * A value the API server fills in, on writes and for objects that it stored long ago: never required of people, and
 * always there for us. A spec is defaulted to Go's zero values: an object without one reads as v0.7.0 read it, so
 * nothing that was accepted is refused, and no code of ours meets an object without a spec.
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
/** A claim that may be gone. */
export const formerClaim = () =>
  z.object({
    namespace: z.string().describe('Its namespace.'),
    name: z.string().describe('Its name.'),
    uid: z.string().optional().describe('Its UID.'),
  });

/**
 * Go's netip also reads zones and IPv4 mapped into IPv6; CEL's isIP knows neither. So the zone is cut off, and the
 * prefix of mapped addresses is replaced by one that isIP takes.
 */
const isAddress = "isIP(self.split('%', 2)[0].lowerAscii().replace('ffff:', 'fffe:'))";
const zoneBelongsToIpv6 = "(!self.contains('%') || self.matches('^[^%]*:[^%]*%.+$'))";

/** IPv4 or IPv6 text. One object with anything else made v0.7.0 unable to read any object of the kind. */
export const ipAddress = () =>
  rule(
    z.string().max(128),
    `${isAddress} && ${zoneBelongsToIpv6}`,
    'expected an IPv4 or IPv6 address such as 192.0.2.10 or 2001:db8::10',
  );

/**
 * Six octets in hex, in any of the usual notations and in any case. Empty is the same as absent: templates write that.
 * A rule instead of a pattern, because a rule can say what is expected.
 */
export const macAddress = () =>
  rule(
    z.string().max(32),
    "self.matches('^(([0-9A-Fa-f]{2}[:-]?){5}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{4}[.]){2}[0-9A-Fa-f]{4})?$')",
    'expected a MAC address such as aa:bb:cc:dd:ee:ff, aa-bb-cc-dd-ee-ff, aabb.ccdd.eeff or aabbccddeeff',
  );

/** A wish that may be left empty. Anything but these words had no effect in v0.7.0. */
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
            key: z.string().describe('Label the requirement is about.'),
            operator: z.string().describe('In, NotIn, Exists or DoesNotExist.'),
            values: z
              .array(z.string())
              .meta({ 'x-kubernetes-list-type': 'atomic' })
              .optional()
              .describe('Values for In and NotIn.'),
          }),
        )
        .meta({ 'x-kubernetes-list-type': 'atomic' })
        .optional()
        .describe('Requirements that must all hold.'),
      matchLabels: z.record(z.string(), z.string()).optional().describe('Labels with exactly these values.'),
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
      .describe('What the condition is about.'),
    status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
    reason: z
      .string()
      .min(1)
      .max(1_024)
      .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
      .describe('One word why.'),
    message: z.string().max(32_768).describe('What is awaited or wrong, and what happens next.'),
    lastTransitionTime: time().describe('When the status last changed.'),
    observedGeneration: int64().min(0).optional().describe('Generation of the spec this was said about.'),
  });

/** As v0.7.0 had them: a list without keys. */
export const plainConditions = () => z.array(conditionItem()).optional().describe('What is known about the object.');

/** Keyed by type, so that several programs can each own theirs and none is there twice. */
export const conditions = () =>
  z
    .array(conditionItem())
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
    .optional()
    .describe('What is known about the object, one entry per type.');

export const taint = () =>
  z.object({
    key: z.string().min(1).describe('Name of the taint.'),
    value: z.string().optional().describe('Value of the taint.'),
    effect: defaulted(
      z
        .enum(['NoBind', 'Evict'])
        .describe(
          'NoBind: no new claim gets the server. Evict: a claim that holds it has to leave, too, after a grace period.',
        ),
      'NoBind',
    ),
  });

export const toleration = () =>
  z.object({
    key: z.string().min(1).describe('Name of the taint.'),
    operator: z.enum(['Equal', 'Exists']).optional().describe('Exists ignores the value; Equal is the default.'),
    value: z.string().optional().describe('Value the taint must have.'),
    effect: z.enum(['NoBind', 'Evict']).optional().describe('Effect that is tolerated; empty tolerates both.'),
  });

/** A rejected login brings the account closer to its lock: no process tries it again while all of this is as it was. */
export const rejectedLogin = () =>
  z.object({
    bmcSecretVersion: z.string().describe('UID and version of the BMCSecret with the password.'),
    address: z.string().describe('Where it was tried, as in https://192.0.2.7:443.'),
    message: z.string().describe('What came of it.'),
  });

/** How a BMC is spoken to. `tls` is an addition to v0.7.0. */
export const protocol = () =>
  z.object({
    name: z
      .string()
      .describe(
        'Redfish, or RedfishLocal and RedfishWithRegistryPatch for test doubles. Anything else shows in the conditions.',
      ),
    port: int32().describe('TCP port.'),
    scheme: z
      .enum(['http', 'https', ''])
      .optional()
      .describe('http or https; empty takes the default of the operator.'),
    tls: z
      .object({
        caBundle: z
          .string()
          .optional()
          .describe('Certificates (PEM) that the certificate of the BMC is verified against.'),
        fingerprint: z
          .string()
          .regex(/^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$/)
          .optional()
          .describe('SHA-256 fingerprint of the certificate; it alone is trusted then.'),
        insecureSkipVerify: z.boolean().optional().describe('Trust any certificate.'),
      })
      .optional()
      .describe('How the certificate of the BMC is verified.'),
  });

export const retryPolicy = () =>
  z
    .object({ maxAttempts: int32().min(0).max(10).optional().describe('Automatic retries after a failure.') })
    .optional()
    .describe('How failures are retried.');

export const group = 'metal.ironcore.dev';
export const version = 'v1alpha1';
/** Why the object is where it is: the reason of its condition Ready, and with `-o wide` the whole message. */
export const readyColumns = {
  Reason: '.status.conditions[?(@.type=="Ready")].reason',
  Message: { path: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
} as const;
export const age = { Age: { path: '.metadata.creationTimestamp', type: 'date' } } as const;

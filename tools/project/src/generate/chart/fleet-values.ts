import { type ChartValue, flag, listOf, object, oneOf, text, value } from './value.ts';

/** none: of the own namespace only; cluster: everywhere; or a list of namespaces. */
const secretReaders = { anyOf: [oneOf('none', 'cluster'), listOf(text)] };

/** How the operator works on the fleet. */
export const fleetValues: readonly ChartValue[] = [
  value(
    'discovery.probeImage',
    '',
    text,
    'Container image of the probe. Required, unless `manager.args` has `--probe-image`.',
  ),
  value(
    'discovery.osImage',
    '',
    text,
    'Image that discovery boots, one of `boot.images` or of a registry. Required likewise.',
  ),
  value(
    'discovery.macPrefixes',
    [],
    listOf(object),
    'Devices by MAC address prefix, with their default credentials and, in `tls`, the trust in their certificates; stored in a Secret. After a change of credentials alone, restart the pods.',
  ),
  value(
    'discovery.macPrefixesSecret',
    '',
    text,
    'Existing Secret with the key `mac-prefixes.yaml`, instead: then the release has no passwords.',
  ),
  value('ignition.override', false, flag, 'Boot discovery with `ignition.template`.'),
  value('ignition.template', '', text, 'Butane template of the discovery boot.'),
  value(
    'ignition.readSecrets',
    'none',
    secretReaders,
    'Where claims may name Secrets with ignition: none, cluster (as v0.7.0 did), or a list of namespaces.',
  ),
  value(
    'updates.readSecrets',
    'none',
    secretReaders,
    'Where settings and firmware may name Secrets and ConfigMaps besides the namespace of the operator: none, cluster, or a list of namespaces.',
  ),
  value(
    'bmc.caSecret',
    '',
    text,
    'Secret with the key `ca.crt`: the authorities that BMC certificates are verified against.',
  ),
  value(
    'bmc.tls',
    'verify',
    oneOf('verify', 'pin'),
    'BMC certificates of no known authority: verify rejects them; pin records that of the first connection and rejects others.',
  ),
  value('bmc.insecure', false, flag, 'Connect to BMCs over http and verify no certificate, as v0.7.0 did by default.'),
  value(
    'cleanup.disks',
    'None',
    oneOf('None', 'Metadata', 'Clear', 'Purge'),
    'Default disk cleanup between two claims.',
  ),
  value('cleanup.bios', 'None', oneOf('None', 'Reset'), 'Default BIOS cleanup.'),
  value('cleanup.bootOrder', 'None', oneOf('None', 'Reset'), 'Default boot order cleanup.'),
  value('dns.template', '', text, 'Template of the DNS record object of each BMC.'),
  value('dns.rules', [], listOf(object), 'RBAC rules for the kind in it.'),
];

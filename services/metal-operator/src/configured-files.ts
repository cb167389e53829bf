import { certificateFault } from '@metal/api/common/certificates.ts';
import type { Warn } from '@metal/api/common/file-content.ts';
import { readMacPrefixes } from '@metal/api/mac-prefixes.ts';
import { checkConfiguredImages } from '@metal/boot/images/configured-images.ts';
import { ConfigError } from '@metal/kube/config-error.ts';
import { dnsTemplateOf } from '@metal/operator/controllers/bmc/dns/dns-records.ts';
import { discoveryIgnitionOf } from '@metal/operator/controllers/server/discovery/discovery-ignition.ts';
import { configuredCertificate } from './configured-certificate.ts';
import type { MetalOperatorConfig } from './options.ts';

/**
 * Reads every file that an option of a component of this process names, before any request is sent. Resolves with warnings about what has
 * no effect.
 * @throws ConfigError with the option, the file, and what is expected and found
 */
export async function checkConfiguredFiles(config: MetalOperatorConfig): Promise<string[]> {
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  const { components, operator, registry, metrics } = config;
  const [controls, boots] = [components.has('controllers'), components.has('boot')];
  if (controls || components.has('dhcp')) readMacPrefixes(operator.macPrefixesFile, warn);
  if (controls) checkOperatorFiles(config);
  if (boots) await checkBootFiles(config, warn);
  checkCertificates('registry-ca-file', registry.caPem);
  if (components.has('registry') && registry.certificateFiles !== undefined)
    await configuredCertificate('registry-cert-path', registry.certificateFiles);
  if (metrics.address !== undefined && metrics.secure && metrics.certificate !== undefined)
    await configuredCertificate('metrics-cert-path', metrics.certificate);
  return warnings;
}

function checkOperatorFiles({ operator, registry }: MetalOperatorConfig): void {
  checkCertificates('bmc-ca-file', operator.bmcAuthorities.with(undefined));
  dnsTemplateOf(operator.dnsRecordTemplatePath);
  discoveryIgnitionOf({
    templatePath: operator.ignitionTemplatePath,
    probeImage: operator.probeImage,
    registryUrl: registry.url,
    registryAuth: registry.auth,
  });
}

function checkBootFiles({ boot, operator, components }: MetalOperatorConfig, warn: Warn): Promise<void> {
  const { imagesFile, fileRoots, registries } = boot;
  const configured = {
    imagesFile,
    fileRoots,
    allowedRegistries: registries.allowed,
    credentialsFile: registries.credentialsFile,
    discoveryImage: components.has('controllers') ? operator.probeOsImage : undefined,
  };
  return checkConfiguredImages(configured, warn);
}

function checkCertificates(option: string, pem: string | undefined): void {
  const fault = pem === undefined ? undefined : certificateFault(pem);
  if (fault !== undefined) throw new ConfigError(`--${option}: ${fault}`);
}

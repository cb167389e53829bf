import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { TemplateData } from '@metal/go-template/template.ts';

/**
 * Data of a BMC for a DNS record template. Names are those of v0.7.0: the fields of spec and status by their Go names,
 * directly and grouped. Unset fields are present and print as empty text.
 */
export function dnsDataOf({ metadata, spec, status }: BMC, namespace: string): TemplateData {
  const fromSpec = specOf(spec);
  const fromStatus = statusOf(status);
  return {
    Name: metadata.name,
    Namespace: namespace,
    Labels: metadata.labels ?? {},
    ...fromSpec,
    ...fromStatus,
    BMCSpec: fromSpec,
    BMCStatus: fromStatus,
  };
}

const specOf = (spec: BMC['spec']) => ({
  BMCUUID: spec?.bmcUUID,
  EndpointRef: spec?.endpointRef && { Name: spec.endpointRef.name },
  Endpoint: spec?.access && { MACAddress: spec.access.macAddress, IP: spec.access.ip },
  BMCSecretRef: { Name: spec?.bmcSecretRef.name },
  Protocol: { Name: spec?.protocol.name, Port: spec?.protocol.port, Scheme: spec?.protocol.scheme },
  ConsoleProtocol: spec?.consoleProtocol && { Name: spec.consoleProtocol.name, Port: spec.consoleProtocol.port },
  BMCSettingRef: spec?.bmcSettingsRef && { Name: spec.bmcSettingsRef.name },
  Hostname: spec?.hostname,
});

const statusOf = (status: BMC['status']) => ({
  MACAddress: status?.macAddress,
  IP: status?.ip,
  Manufacturer: status?.manufacturer,
  Model: status?.model,
  SKU: status?.sku,
  SerialNumber: status?.serialNumber,
  FirmwareVersion: status?.firmwareVersion,
  State: status?.state,
  PowerState: status?.powerState,
  LastResetTime: status?.lastResetTime,
  MetricsReportSubscriptionLink: status?.metricsReportSubscriptionLink,
  EventsSubscriptionLink: status?.eventsSubscriptionLink,
  Conditions: (status?.conditions ?? []).map(({ type, status: holds, reason, message }) => ({
    Type: type,
    Status: holds,
    Reason: reason,
    Message: message,
  })),
});

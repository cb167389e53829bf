import * as z from 'zod';
import { amount, flag, link, part, text } from '../fields.ts';

/** Redfish ServiceRoot (DSP0268). Everything is optional: a service that the BMC does not offer is not used. */
export const serviceRoot = z.object({
  RedfishVersion: text,
  UUID: text,
  Vendor: text,
  Product: text,
  Systems: link,
  Managers: link,
  Chassis: link,
  SessionService: link,
  EventService: link,
  AccountService: link,
  UpdateService: link,
  /** The TaskService, by the name of the standard. */
  Tasks: link,
  Registries: link,
  Links: part({ Sessions: link }),
  ProtocolFeaturesSupported: part({
    ExpandQuery: part({ NoLinks: flag, Levels: flag, MaxLevels: amount, ExpandAll: flag }),
  }),
});
export type ServiceRoot = z.output<typeof serviceRoot>;

const usualServices = [
  'Systems',
  'Managers',
  'SessionService',
  'EventService',
  'AccountService',
  'UpdateService',
  'Registries',
];

/** Replaces a root that the BMC shows only after a login, against the standard: the usual paths are used. */
export const hiddenRoot = (): ServiceRoot =>
  serviceRoot.parse(Object.fromEntries(usualServices.map((name) => [name, { '@odata.id': `/redfish/v1/${name}` }])));

/** Path of the Sessions collection; undefined when the BMC has none. */
export function sessionsPath({ Links, SessionService }: ServiceRoot): string | undefined {
  return Links.Sessions ?? (SessionService === undefined ? undefined : `${SessionService}/Sessions`);
}

/** `$expand` with the given levels, or as many as the BMC supports; undefined when the BMC does not advertise it. */
export function expandQuery({ ProtocolFeaturesSupported }: ServiceRoot, levels = 1): string | undefined {
  const { NoLinks, ExpandAll } = ProtocolFeaturesSupported.ExpandQuery;
  const depth = Math.min(levels, expandLevels(ProtocolFeaturesSupported.ExpandQuery));
  const suffix = depth > 1 ? `($levels=${depth})` : '';
  if (NoLinks === true) return `$expand=.${suffix}`;
  return ExpandAll === true ? `$expand=*${suffix}` : undefined;
}

function expandLevels({ Levels, MaxLevels }: ServiceRoot['ProtocolFeaturesSupported']['ExpandQuery']): number {
  return Levels === true ? (MaxLevels ?? 1) : 1;
}

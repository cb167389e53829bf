import type { Resource } from './replies.ts';

export const root = '/redfish/v1';

export const at = (path: string): { '@odata.id': string } => ({ '@odata.id': path });

export const collection = (path: string, ids: readonly string[], name: string): Resource => ({
  '@odata.id': path,
  '@odata.type': `#${name}Collection.${name}Collection`,
  Name: `${name} Collection`,
  'Members@odata.count': ids.length,
  Members: ids.map((id) => at(`${path}/${id}`)),
});

export const settingsAt = (path: string, applyTimes?: readonly string[]): Resource => ({
  '@odata.type': '#Settings.v1_3_5.Settings',
  SettingsObject: at(path),
  ...(applyTimes === undefined ? {} : { SupportedApplyTimes: applyTimes }),
});

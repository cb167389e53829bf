import { StubBmc, type StubClientOptions, openStubClient } from './stub-bmc.ts';

export const updateService = '/redfish/v1/UpdateService';
export const simpleUpdate = `${updateService}/Actions/Oem.SimpleUpdate`;
export const inventory = `${updateService}/FirmwareInventory`;
export const tasks = '/redfish/v1/TaskService/Tasks';

/** A BMC of this manufacturer with an UpdateService and a TaskService, and a client of it. */
export async function openUpdateFixture(
  service: object = {},
  manufacturer = 'Contoso',
  client: StubClientOptions = {},
) {
  const stack = new AsyncDisposableStack();
  const stub = stack.use(await StubBmc.start());
  stub.set('/redfish/v1/Systems/1', { Id: '1', UUID: 'A', Manufacturer: manufacturer });
  stub.set(updateService, {
    FirmwareInventory: { '@odata.id': inventory },
    Actions: { '#UpdateService.SimpleUpdate': { target: simpleUpdate } },
    ...service,
  });
  stub.set(simpleUpdate, {});
  stub.set('/redfish/v1/TaskService', { Tasks: { '@odata.id': tasks } });
  const bmc = stack.use(openStubClient(stub, client));
  return { stub, bmc, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

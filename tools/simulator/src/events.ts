/** An event of a BMC for its subscribers. */
export interface BmcEvent {
  readonly severity: 'OK' | 'Warning' | 'Critical';
  readonly messageId: string;
  readonly message: string;
  /** Sensor readings, for subscribers of metric reports. */
  readonly metrics?: readonly { readonly id: string; readonly value: string }[];
}

/** Sends the event to every subscriber in its format; resolves with the statuses, 0 for an unreachable one. */
export function deliver(
  subscriptions: readonly Record<string, unknown>[],
  event: BmcEvent,
  fetch: typeof globalThis.fetch,
): Promise<number[]> {
  return Promise.all(
    subscriptions.map(async ({ Destination, Context, EventFormatType }) => {
      const body = EventFormatType === 'MetricReport' ? metricReportOf(event) : eventOf(event, Context);
      try {
        const response = await fetch(String(Destination), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        await response.arrayBuffer();
        return response.status;
      } catch {
        return 0;
      }
    }),
  );
}

const eventOf = ({ severity, messageId, message }: BmcEvent, context: unknown) => ({
  '@odata.type': '#Event.v1_11_0.Event',
  Id: '1',
  Name: 'Event',
  Context: context,
  Events: [
    {
      EventType: 'Alert',
      EventId: '1',
      MemberId: '0',
      MessageId: messageId,
      Message: message,
      MessageSeverity: severity,
      OriginOfCondition: { '@odata.id': '/redfish/v1/Chassis/1/Sensors/Fan1' },
    },
  ],
});

const metricReportOf = ({ metrics = [] }: BmcEvent) => ({
  '@odata.type': '#MetricReport.v1_5_1.MetricReport',
  Id: 'Report',
  Name: 'Metric report',
  MetricValues: metrics.map(({ id, value }) => ({ MetricId: id, MetricValue: value })),
});

/** A Redfish resource, or the response in its place. */
export type Resource = Record<string, unknown>;

/** A response of a BMC, before faults and encoding. */
export interface Reply {
  readonly status: number;
  readonly body?: Resource | undefined;
  /** The body when it is already encoded, or no JSON. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Runs after the response is sent. */
  readonly afterwards?: () => void;
}

/** Message identifiers of the Base registry that are used here. */
export type MessageId =
  | 'GeneralError'
  | 'NoValidSession'
  | 'ResourceAtUriUnauthorized'
  | 'InsufficientPrivilege'
  | 'ResourceMissingAtURI'
  | 'OperationNotAllowed'
  | 'PropertyUnknown'
  | 'PropertyNotWritable'
  | 'PropertyValueNotInList'
  | 'PropertyValueTypeError'
  | 'PropertyValueOutOfRange'
  | 'PropertyValueConflict'
  | 'PropertyMissing'
  | 'ActionParameterNotSupported'
  | 'ActionParameterMissing'
  | 'MalformedJSON'
  | 'PreconditionFailed'
  | 'PreconditionRequired'
  | 'QueryNotSupported'
  | 'QueryParameterValueFormatError'
  | 'NoOperation'
  | 'SessionLimitExceeded'
  | 'ServiceTemporarilyUnavailable'
  | 'ResourceAlreadyExists'
  | 'ResourceInUse'
  | 'CreateLimitReachedForResource'
  | 'Accepted'
  | 'Success';

/** An error response (DSP0266), with the properties that it concerns. */
export const failure = (
  status: number,
  messageId: MessageId,
  message: string,
  related: readonly string[] = [],
): Reply => ({
  status,
  body: envelope(messageId, message, status < 400 ? 'OK' : 'Critical', related),
});

/** Response to a successful change: some vendors send no body, others a message. */
export const done = (status: 200 | 202 | 204): Reply =>
  status === 204 ? { status } : { status, body: envelope('Success', 'The request completed successfully.', 'OK') };

/** A request without valid credentials, with the way to send them (DSP0266, RFC 9110). */
export const rejectedLogin = (messageId: MessageId, message: string): Reply => ({
  ...failure(401, messageId, message),
  headers: { 'www-authenticate': 'Basic realm="Redfish"' },
});

export const missing = (path: string): Reply => failure(404, 'ResourceMissingAtURI', `${path} does not exist`);

function envelope(
  messageId: MessageId,
  message: string,
  severity: 'OK' | 'Critical',
  related: readonly string[] = [],
): Resource {
  const id = `Base.1.18.${messageId}`;
  return {
    error: {
      code: id,
      message,
      '@Message.ExtendedInfo': [
        {
          '@odata.type': '#Message.v1_2_1.Message',
          MessageId: id,
          Message: message,
          MessageSeverity: severity,
          ...(related.length === 0 ? {} : { RelatedProperties: related }),
        },
      ],
    },
  };
}

/** Member of a value of unknown shape. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

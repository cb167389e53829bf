{{/*
Options of the operator by flag: text of the value, and the values that it comes from. `isFixed`: other objects of the chart depend
on it, so that manager.args may only repeat it. `isDefault`: manager.args may replace it.
*/}}
{{- define "metal-operator.managerFlags" -}}
{{- $values := .Values }}
{{- $components := list "controllers" }}
{{- if .Values.registry.enabled }}{{ $components = append $components "registry" }}{{ end }}
{{- if .Values.boot.enabled }}{{ $components = append $components "boot" }}{{ end }}
{{- if include "metal-operator.servesMetadata" . }}{{ $components = append $components "metadata" }}{{ end }}
{{- if .Values.metal3.enabled }}{{ $components = append $components "metal3" }}{{ end }}
components: { text: {{ join "," $components | quote }}, by: "registry.enabled, boot.enabled, metadata and metal3.enabled", isFixed: true }
manager-namespace: { text: {{ include "metal-operator.managerNamespace" . | quote }}, by: managerNamespace, isFixed: true }
{{- if eq .Values.mode "shards" }}
shards: { text: auto, by: mode, isFixed: true }
{{- else if eq .Values.mode "leader" }}
leader-elect: { text: "true", by: mode, isFixed: true }
{{- end }}
metrics-bind-address: { text: {{ .Values.metrics.enable | ternary (printf ":%v" .Values.metrics.port) "0" | quote }}, by: metrics, isFixed: true }
{{- if not .Values.metrics.secure }}
metrics-secure: { text: "false", by: metrics.secure, isFixed: true }
{{- end }}
health-probe-bind-address: { text: ":{{ .Values.manager.healthPort }}", by: manager.healthPort, isFixed: true }
zap-encoder: { text: {{ .Values.manager.log.format }}, by: manager.log.format, isDefault: {{ eq .Values.manager.log.format "json" }} }
zap-log-level: { text: {{ .Values.manager.log.level | quote }}, by: manager.log.level, isDefault: {{ eq .Values.manager.log.level "info" }} }
{{- include "metal-operator.portFlags" . }}
{{- include "metal-operator.fileFlags" . }}
{{- include "metal-operator.optionFlags" . }}
{{- end }}

{{- define "metal-operator.portFlags" }}
{{- if .Values.registry.enabled }}
registry-port: { text: "{{ .Values.registry.port }}", by: registry.port, isFixed: true }
registry-auth: { text: {{ .Values.registry.auth }}, by: registry.auth, isDefault: {{ eq .Values.registry.auth "token" }} }
{{- end }}
{{- if .Values.boot.enabled }}
boot-port: { text: "{{ .Values.boot.port }}", by: boot.port, isFixed: true }
boot-cache-dir: { text: /var/lib/metal-operator, by: the volume of the chart, isFixed: true }
boot-cache-size: { text: {{ .Values.boot.cache.size | quote }}, by: boot.cache.size, isFixed: true }
{{- end }}
{{- if .Values.events.enabled }}
event-port: { text: "{{ .Values.events.port }}", by: events.port, isFixed: true }
{{- end }}
{{- if include "metal-operator.servesMetadata" . }}
metadata-port: { text: "{{ .Values.metadata.port }}", by: metadata.port, isFixed: true }
metadata-auth: { text: {{ .Values.metadata.auth }}, by: metadata.auth, isDefault: {{ eq .Values.metadata.auth "address" }} }
{{- end }}
{{- end }}

{{/* Files of the volume at /etc/metal-operator. */}}
{{- define "metal-operator.fileFlags" }}
{{- $files := "/etc/metal-operator" }}
{{- if include "metal-operator.macPrefixesSecret" . }}
mac-prefixes-file: { text: "{{ $files }}/mac-prefixes.yaml", by: discovery.macPrefixes }
{{- end }}
{{- if and .Values.boot.enabled .Values.boot.images }}
boot-images: { text: "{{ $files }}/boot-images.yaml", by: boot.images }
{{- end }}
{{- if and .Values.boot.enabled .Values.boot.credentialsSecret }}
registry-credentials-file: { text: "{{ $files }}/registry-credentials.json", by: boot.credentialsSecret }
{{- end }}
{{- if .Values.ignition.override }}
discovery-ignition-path: { text: "{{ $files }}/ignition-template.yaml", by: ignition.template }
{{- end }}
{{- if .Values.dns.template }}
dns-record-template-path: { text: "{{ $files }}/dns-record-template.yaml", by: dns.template }
{{- end }}
{{- if and .Values.metal3.enabled .Values.metal3.ironic.authSecret }}
ironic-auth-dir: { text: "{{ $files }}/metal3", by: metal3.ironic.authSecret }
{{- end }}
{{- if and .Values.metal3.enabled .Values.metal3.ironic.caSecret }}
ironic-ca-file: { text: "{{ $files }}/ironic-ca.crt", by: metal3.ironic.caSecret }
{{- end }}
{{- if .Values.bmc.caSecret }}
bmc-ca-file: { text: "{{ $files }}/bmc-ca.crt", by: bmc.caSecret }
{{- end }}
{{- if include "metal-operator.metricsCertSecret" . }}
metrics-cert-path: { text: "{{ $files }}/metrics-tls", by: metrics.certSecret or certManager.enable }
{{- end }}
{{- if include "metal-operator.registryCertSecret" . }}
registry-cert-path: { text: "{{ $files }}/registry-tls", by: registry.tls.secret or certManager.enable }
{{- end }}
{{- end }}

{{/* Values that are an option and nothing else; without a line while they have the default of the operator. */}}
{{- define "metal-operator.optionFlags" }}
{{- $options := dict "probe-image" "discovery.probeImage" "probe-os-image" "discovery.osImage" "bmc-tls" "bmc.tls" "cleanup-disks" "cleanup.disks" "cleanup-bios" "cleanup.bios" "cleanup-boot-order" "cleanup.bootOrder" "registry-url" "registry.url" }}
{{- if .Values.boot.enabled }}
{{- $options = merge $options (dict "boot-url" "boot.url" "allowed-registries" "boot.allowedRegistries" "allowed-image-origins" "boot.allowedImageOrigins" "refused-image-networks" "boot.refusedImageNetworks" "trusted-proxies" "boot.trustedProxies" "bind-boot-tokens" "boot.bindTokens") }}
{{- end }}
{{- if .Values.events.enabled }}
{{- $options = set $options "event-url" "events.url" }}
{{- end }}
{{- if .Values.metal3.enabled }}
{{- $options = merge $options (dict "metal3-provisioner" "metal3.provisioner" "ironic-endpoint" "metal3.ironic.url") }}
{{- end }}
{{- $defaults := list "" "verify" "native" "None" "ghcr.io" "true" }}
{{- range $flag, $path := $options }}
{{- $value := $.Values }}
{{- range splitList "." $path }}{{ $value = index $value . }}{{ end }}
{{- $text := kindIs "slice" $value | ternary (join "," $value) (toString $value) }}
{{- if not (has $text $defaults) }}
{{ $flag }}: { text: {{ $text | quote }}, by: {{ $path }} }
{{- end }}
{{- end }}
{{- if .Values.bmc.insecure }}
insecure: { text: "true", by: bmc.insecure }
{{- end }}
{{- end }}

{{/* Options in manager.args: text by flag, as the operator reads them. */}}
{{- define "metal-operator.givenFlags" -}}
{{- range .Values.manager.args }}
{{- if hasPrefix "-" . }}
{{- $argument := regexReplaceAll "^--?" . "" }}
{{ regexReplaceAll "=.*$" $argument "" | quote }}: {{ contains "=" $argument | ternary (regexReplaceAll "^[^=]*=" $argument "") "true" | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* The arguments of the operator: first those of values, then manager.args. */}}
{{- define "metal-operator.managerArgs" -}}
{{- $given := include "metal-operator.givenFlags" . | fromYaml }}
{{- range $flag, $entry := include "metal-operator.managerFlags" . | fromYaml }}
{{- if not (hasKey $given $flag) }}
- {{ printf "--%s=%s" $flag $entry.text | quote }}
{{- else if and (ne (get $given $flag) $entry.text) (not $entry.isDefault) }}
{{- fail (printf "manager.args has --%s, which is also set by %s (%s): %s" $flag $entry.by $entry.text (eq (toString $entry.isFixed) "true" | ternary "use the value, since other objects depend on it" "use one of them")) }}
{{- end }}
{{- end }}
{{- if include "metal-operator.servesMetadata" . }}
{{- range $key, $value := .Values.metadata.static }}
- {{ printf "--static-metadata=%s=%s" $key $value | quote }}
{{- end }}
{{- end }}
{{- range .Values.manager.args }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{/* What the operator cannot start without, and what cannot work. */}}
{{- define "metal-operator.checks" -}}
{{- $given := include "metal-operator.givenFlags" . | fromYaml }}
{{- if not (or .Values.discovery.probeImage (hasKey $given "probe-image")) }}
{{- fail "discovery.probeImage is empty: name the container image of the probe" }}
{{- end }}
{{- if not (or .Values.discovery.osImage (hasKey $given "probe-os-image")) }}
{{- fail "discovery.osImage is empty: name the image that discovery boots, one of boot.images or of a registry" }}
{{- end }}
{{- if not (or .Values.registry.url (hasKey $given "registry-url") (include "metal-operator.hasEnv" (list . "REGISTRY_ADDRESS"))) }}
{{- fail "registry.url is empty: name the URL under which machines reach the registry, for example http://192.0.2.1:10000" }}
{{- end }}
{{- if and .Values.events.enabled (not (or .Values.events.url (hasKey $given "event-url") (include "metal-operator.hasEnv" (list . "EVENT_ADDRESS")))) }}
{{- fail "events.url is empty: name the URL under which BMCs reach the event receiver, or set EVENT_ADDRESS in manager.env" }}
{{- end }}
{{- if and (eq .Values.mode "single") (gt (int .Values.manager.replicas) 1) }}
{{- fail "mode single is for one replica: set manager.replicas to 1" }}
{{- end }}
{{- if and (eq .Values.mode "single") (or (hasKey $given "leader-elect") (hasKey $given "shards")) }}
{{- fail "manager.args has --leader-elect or --shards, and mode is single: set mode to leader or shards" }}
{{- end }}
{{- if and (hasKey $given "shards") (ne .Values.mode "shards") }}
{{- fail "manager.args has --shards: set mode to shards" }}
{{- end }}
{{- if and .Values.metal3.enabled (eq .Values.metal3.provisioner "ironic") (not (or .Values.metal3.ironic.url (hasKey $given "ironic-endpoint") (include "metal-operator.hasEnv" (list . "IRONIC_ENDPOINT")))) }}
{{- fail "metal3.ironic.url is empty: name the URL of Ironic, or set IRONIC_ENDPOINT in manager.env" }}
{{- end }}
{{- if and .Values.ignition.override (not .Values.ignition.template) }}
{{- fail "ignition.override is true, and ignition.template is empty" }}
{{- end }}
{{- if and .Values.bmc.insecure (eq .Values.bmc.tls "pin") }}
{{- fail "bmc.insecure accepts any certificate, and bmc.tls is pin: use one of them" }}
{{- end }}
{{- if and .Values.discovery.macPrefixes .Values.discovery.macPrefixesSecret }}
{{- fail "discovery.macPrefixes and discovery.macPrefixesSecret are both set: use one of them" }}
{{- end }}
{{- if and .Values.serviceAccount.enable .Values.serviceAccount.name }}
{{- fail "serviceAccount.name names an existing account: set serviceAccount.enable to false" }}
{{- end }}
{{- end }}

{{/* One read-only volume for all files at /etc/metal-operator; files that are read again change in it without a restart. */}}
{{- define "metal-operator.files" -}}
{{- $config := include "metal-operator.nameWith" (list . "config") }}
{{- with include "metal-operator.macPrefixesSecret" . }}
- secret:
    name: {{ . }}
    items: [{ key: mac-prefixes.yaml, path: mac-prefixes.yaml }]
{{- end }}
{{- if and .Values.boot.enabled .Values.boot.images }}
- configMap:
    name: {{ $config }}
    items: [{ key: boot-images.yaml, path: boot-images.yaml }]
{{- end }}
{{- if .Values.ignition.override }}
- configMap:
    name: {{ $config }}
    items: [{ key: ignition-template.yaml, path: ignition-template.yaml }]
{{- end }}
{{- if .Values.dns.template }}
- configMap:
    name: {{ $config }}
    items: [{ key: dns-record-template.yaml, path: dns-record-template.yaml }]
{{- end }}
{{- if and .Values.boot.enabled .Values.boot.credentialsSecret }}
- secret:
    name: {{ .Values.boot.credentialsSecret }}
    items: [{ key: .dockerconfigjson, path: registry-credentials.json }]
{{- end }}
{{- if .Values.metal3.enabled }}
{{- with .Values.metal3.ironic.authSecret }}
- secret:
    name: {{ . }}
    items: [{ key: username, path: metal3/ironic/username }, { key: password, path: metal3/ironic/password }]
{{- end }}
{{- with .Values.metal3.ironic.caSecret }}
- secret:
    name: {{ . }}
    items: [{ key: ca.crt, path: ironic-ca.crt }]
{{- end }}
{{- end }}
{{- with .Values.bmc.caSecret }}
- secret:
    name: {{ . }}
    items: [{ key: ca.crt, path: bmc-ca.crt }]
{{- end }}
{{- with include "metal-operator.metricsCertSecret" . }}
- secret:
    name: {{ . }}
    items: [{ key: tls.crt, path: metrics-tls/tls.crt }, { key: tls.key, path: metrics-tls/tls.key }]
{{- end }}
{{- with include "metal-operator.registryCertSecret" . }}
- secret:
    name: {{ . }}
    items: [{ key: tls.crt, path: registry-tls/tls.crt }, { key: tls.key, path: registry-tls/tls.key }]
- secret:
    name: {{ . }}
    optional: true
    items: [{ key: ca.crt, path: registry-tls/ca.crt }]
{{- end }}
{{- end }}

{{- define "metal-operator.managerVolumes" -}}
{{- with include "metal-operator.files" . }}
- name: files
  projected:
    defaultMode: 0440
    sources: {{- . | nindent 6 }}
{{- end }}
{{- if .Values.boot.enabled }}
- name: boot-cache
  {{- with .Values.boot.cache }}
  {{- if .storageClass }}
  ephemeral:
    volumeClaimTemplate:
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: {{ .storageClass }}
        resources: { requests: { storage: {{ .volumeSize }} } }
  {{- else }}
  emptyDir: { sizeLimit: {{ .volumeSize }} }
  {{- end }}
  {{- end }}
{{- end }}
{{- with .Values.manager.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "metal-operator.managerMounts" -}}
{{- if include "metal-operator.files" . }}
- { name: files, mountPath: /etc/metal-operator, readOnly: true }
{{- end }}
{{- if .Values.boot.enabled }}
- { name: boot-cache, mountPath: /var/lib/metal-operator }
{{- end }}
{{- with .Values.manager.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "metal-operator.probes" -}}
startupProbe: { httpGet: { path: /healthz, port: health }, periodSeconds: 2, failureThreshold: 60 }
livenessProbe: { httpGet: { path: /healthz, port: health }, periodSeconds: 20, timeoutSeconds: 5 }
readinessProbe: { httpGet: { path: /readyz, port: health }, periodSeconds: 10, timeoutSeconds: 5 }
{{- end }}

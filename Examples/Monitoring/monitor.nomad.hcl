# Runs three monitors, each with a third of the streams.
job "hls-monitor" {
  type = "service"
  group "monitor" {
    count = 3
    network {
      port "metrics" {}
    }
    service {
      name     = "hls-monitor"
      port     = "metrics"
      provider = "nomad"
      check {
        type     = "http"
        path     = "/healthz"
        interval = "10s"
        timeout  = "2s"
      }
    }
    task "hlsget" {
      driver = "exec"
      config {
        command = "/usr/bin/hlsget"
        args = [
          "monitor", "local/streams.txt", "--shard", "${NOMAD_ALLOC_INDEX}/3",
          "--metrics-port", "${NOMAD_PORT_metrics}", "--metrics-address", "0.0.0.0", "--progress", "json",
        ]
      }
      template {
        data          = "{{ key \"hls/streams.txt\" }}"
        destination   = "local/streams.txt"
        change_mode   = "signal"
        change_signal = "SIGHUP"
      }
      resources {
        cpu    = 1000
        memory = 1024
      }
    }
  }
}

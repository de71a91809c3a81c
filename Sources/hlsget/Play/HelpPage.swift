import ArgumentParser
import HLSGetKit

/// What `hlsget --help` prints: one screen for people. `hlsget play --help` has a line for each option.
enum HelpPage {
    /// `hlsget -h`, `hlsget --help` and `hlsget help`, without anything else.
    static func isAskedFor(by arguments: some Collection<String>) -> Bool {
        guard let first = arguments.first else { return false }
        return arguments.count == 1 && ["-h", "--help", "help"].contains(first)
    }

    static func text(commands: [any ParsableCommand.Type]) -> String {
        let others = commands.filter { $0 != PlayCommand.self }.map { command in
            let name = command.configuration.commandName ?? ""
            return "  hlsget \(name.padded(to: 12))\(command.configuration.abstract)\n"
        }
        let section = others.isEmpty ? "" : "\nOTHER COMMANDS (each has --help)\n\(others.joined())"
        return (body + section).trimmingNewline()
    }

    private static let body = """
        hlsget \(CommandInfo.version): plays, checks and records HTTP Live Streaming

        USAGE hlsget [play] URL|FILE|- [options]        without -o, output is discarded

          hlsget https://example.com/master.m3u8                 see it load, wait and play
          hlsget --fast -o film.ts --quality 'height<=720' URL   save it, in the best that matches
          hlsget --throttle 800k,50ms --peak-bitrate 2M URL      play over a slower link
        OUTPUT
          -o, --output FILE             - is stdout; repeat it: -o v.y4m -o a.wav; '{title}/{height}p.ts'
          -f, --format NAME             ts mp4 mkv aac mp3 y4m rawvideo wav s16le f32le framemd5 null
          --split 1h|500M, --player CMD, --no-video, --no-audio, -y, --overwrite   many files; 'mpv -'
          --fast, --no-decode, --cache FOLDER   drop no late frames; only load; keep what may be kept
          --window, --preview, --preview-format NAME, --fullscreen, --presentation-log FILE   see it
        PLAYBACK
          --rate R, --immediately, --no-auto-wait, --forward-buffer TIME   speed; never wait; load ahead
          --peak-bitrate BPS, --max-resolution WxH, --display WxH[@SCALE]   none above: 2.5M, 640x360@2
          --start-first-eligible, --one-quality, --adaptive   first variant; keep the best; let -o change it
          --from, --to TIME|DATE|#N, --duration TIME, --loop N   90, 1m30s; -30s is before the end; '#12'
          --live-from-start, --live-offset TIME, --live-catch-up [RATE], --no-low-latency   join a live one
          --wait TIME|forever, --until HH:MM|DATE  for a stream that has not begun; stop by the clock
          --stale end|fail|wait|TIME, --fell-behind edge|oldest|fail   live: stopped updating, or ran ahead
          --interstitials play|skip|only, --skip-dateranges EXPR, --skip-uri REGEX   ads: in place, left out
        SELECTION
          -F, --list                    show variants and renditions, with estimated sizes, and end
          --quality EXPR, --subs-file FILE, --pathway ID   'height<=720 codec=hevc'; captions; server
          --audio, --subs EXPR, --languages LIST   'lang=de,lang=en channels=2'; audio for who speaks de,en
        NETWORK
          -H, --header 'NAME: VALUE', --query NAME=VALUE   in requests; secrets to the URL's origin only
          -A, --user-agent TEXT, -e, --referer URL, --base-url URL   names; base of a playlist on stdin
          --cookies, --cookies-from-file FILE, --netrc, --send-credentials-to ORIGIN   logins, where to
          --cacert FILE, -k, --insecure, --cert FILE, --key-file FILE   trust; the client's certificate
          --proxy URL|none, --interface NAME, -4, -6, --http1.1, --limit-rate B/s, --connections-per-host N
          --retries N|inf, --retry-backoff TIME,…, --on-gap skip|fail|fill, --timeout TIME
          --cmcd headers|query, --cmcd-version 1|2, --cmcd-keys LIST, --cmcd-custom K=V, --cmcd-events URL
          --throttle CSV|RATE[,LATENCY[,LOSS]], --record-trace FILE   slower link; record for hlsget replay
          --refresh-cmd CMD, --expensive, --expensive-peak-bitrate BPS   fresh URL on 403; metered network
          --key HEX|FILE, --iv HEX, --key-uri URL, --allow-file  keys by hand; files outside the folder
          --deny-private, --deny-address CIDR, --allow-downgrade  refuse addresses; allow https to http
        REPORT
          --progress bar|json|none      status line, JSON lines on stderr, or nothing
          --json, --access-log FILE, --error-log FILE, --content-id, --session-id ID   summary; logs; names
          -v, --verbose, -q, --quiet, --strict, --threads N, --report FILE   more; errors; exit 10; a page
          --config FILE, --no-config, --version, -h, --help   options of a file; 'play --help' lists all

        KEYS space pause, arrows seek 10 s and 60 s, [ ] rate, i now, a audio, s subtitles, h help, q quit;
             with -o FILE q alone, which ends it and keeps what there is
        EXIT 0 done, 1 bug, 3 not found, 4 network, 5 playlist, 6 no variant, 7 key, 8 media, 9 output,
             10 incomplete, 11 stale live, 12 refused, 64 usage, 130 interrupted, 143 SIGTERM, 129 SIGHUP
        """
}

extension String {
    /// Without the line break at the end, which `print` adds.
    fileprivate func trimmingNewline() -> String { hasSuffix("\n") ? String(dropLast()) : self }
}

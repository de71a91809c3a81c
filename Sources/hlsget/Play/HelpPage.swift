import ArgumentParser
import HLSGetKit

/// The output of `hlsget --help`: the most important options in 80 columns. `hlsget play --help` explains every option.
enum HelpPage {
    /// Whether the arguments are just `-h`, `--help` or `help`.
    static func isAskedFor(by arguments: some Collection<String>) -> Bool {
        guard let first = arguments.first else { return false }
        return arguments.count == 1 && ["-h", "--help", "help"].contains(first)
    }

    static func text(commands: [any ParsableCommand.Type]) -> String {
        let others = commands.filter { $0 != PlayCommand.self }.map { command in
            let name = command.configuration.commandName ?? ""
            let abstract = command.configuration.abstract.prefix { !":,.".contains($0) }
            return "  hlsget \(name.padded(to: 12))\(abstract)\n"
        }
        let section = others.isEmpty ? "" : "\nOTHER COMMANDS (each has --help)\n\(others.joined())"
        return (body + section).trimmingNewline()
    }

    private static let body = """
        hlsget \(CommandInfo.version): plays, checks and records HTTP Live Streaming

        USAGE hlsget [play] URL|FILE|- [options]       without -o nothing is kept

          hlsget watch https://example.com/master.m3u8    see it in a window
          hlsget listen URL                               hear it
          hlsget -o film.mp4 URL                          save it
          hlsget -o film.ts --quality 'height<=720' URL   in the best that matches
          hlsget -o - URL | mpv -                         into another program
          hlsget --throttle 800k,50ms URL                 over a slower link

        OUTPUT
          -o, --output FILE    - is stdout; may be repeated: -o v.y4m -o a.wav;
                               {title} {height} {date} … stand for what is written
          -f, --format NAME    ts mp4 mkv aac mp3 y4m rawvideo wav s16le f32le
                               framemd5 null
          --player CMD         play into a program, e.g. 'mpv -'
          --split 1h|500M      begin another file
          --pace, --fast       in real time; as fast as possible
          --no-video, --no-audio, -y, --overwrite
          --window, --preview, --listen   see it, see it in the terminal, hear it
        PLAYBACK
          --from, --to TIME|DATE|#N, --duration TIME   90, 1m30s, -30s (of the end)
          --rate R, --loop N
          --peak-bitrate BPS, --max-resolution WxH     none above: 2.5M, 1280x720
          --live-from-start, --live-offset TIME        where to join a live stream
          --wait TIME|forever, --until HH:MM|DATE      begin later; end by the clock
          --stale end|fail|wait|TIME                   if it stops updating
          --interstitials play|skip|only               ads
        SELECTION
          -F, --list           show variants, audio and subtitles, and end
          --quality EXPR       best, worst, 720p, 'height<=720 codec=hevc'
          --audio, --subs EXPR, --languages LIST   'lang=de,lang=en channels=2'
          --subs-file FILE     captions of a file
          --channel N|NAME     of a list of channels (IPTV)
        NETWORK
          -H, --header 'NAME: VALUE', --query NAME=VALUE, -A, --user-agent TEXT,
          -e, --referer URL, --cookies FILE, --netrc   what servers are told
          --proxy URL, --cacert FILE, -k, --insecure, -4, -6, --limit-rate B/s
          --retries N|inf, --timeout TIME, --on-gap skip|fail|fill
          --key HEX|FILE       a key by hand
        REPORT
          --progress bar|json|none, --json, --report FILE   a page of it
          --access-log FILE, --error-log FILE, --record-trace FILE
          -v, --verbose, -q, --quiet, --strict   more; errors only; exit 10 if lacking

        hlsget play --help lists all options; ~/.config/hlsget/config may hold some.

        KEYS space pause, arrows seek 10 s and 60 s, [ ] rate, i now, a audio,
             s subtitles, m 9 0 volume, h help, q quit; with -o FILE q alone
        EXIT 0 done, 1 bug, 3 not found, 4 network, 5 playlist, 6 no variant, 7 key,
             8 media, 9 output, 10 incomplete, 11 stale live, 12 refused, 64 usage,
             130 interrupted, 143 SIGTERM, 129 SIGHUP
        """
}

extension String {
    /// The text without its final line feed, which `print` adds.
    fileprivate func trimmingNewline() -> String { hasSuffix("\n") ? String(dropLast()) : self }
}

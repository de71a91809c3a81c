import ArgumentParser
import HLSGetKit

/// The output of `hlsget --help`: the most important options in 80 columns. `hlsget play --help` explains every option.
enum HelpPage {
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

        USAGE hlsget [play] URL|FILE|- [options]       nothing is saved without -o

          hlsget watch https://example.com/master.m3u8    watch in a window
          hlsget listen URL                               listen to the audio
          hlsget -o film.mp4 URL                          save the best variant
          hlsget -o film.ts --quality 'height<=720' URL   save 720p at most
          hlsget -o - URL | mpv -                         pipe to another program
          hlsget --throttle 800k,50ms URL                 simulate a slower link

        OUTPUT
          -o, --output FILE         save to FILE, or - for standard output; may
                                    be repeated; the name may contain {title} {height} …
          -f, --format NAME         ts mp4 mkv aac mp3 y4m rawvideo wav s16le f32le
                                    framemd5 null
          -y, --overwrite           replace existing files
          --split 1h|500M           start a new file after each hour or 500 MB
          --player CMD              pipe to a player, e.g. 'mpv -'
          --pace                    run in real time
          --fast                    run as fast as possible
          --no-video                omit video
          --no-audio                omit audio
          --window                  show video in a window
          --preview                 show video in the terminal
          --listen                  play audio without a window
        PLAYBACK
          --from TIME|DATE|#N       start here, e.g. 90, 1m30s, or -30s from the end
          --to TIME|DATE|#N         stop here
          --duration TIME           stop after this duration
          --rate R                  playback rate; over 2 or negative: I-frames only
          --loop N                  play the stream N times
          --peak-bitrate BPS        no variant above this bit rate, e.g. 2.5M
          --max-resolution WxH      no variant larger than this, e.g. 1280x720
          --live-from-start         start a live stream at its oldest segment
          --live-offset TIME        stay this far behind the live edge
          --wait TIME|forever       wait for a stream that has not started
          --until HH:MM|DATE        stop at this time or date
          --stale end|fail|wait|TIME      if a live stream stops updating
          --interstitials play|skip|only  play or skip interstitials (ads)
        SELECTION
          -F, --list                list variants, audio and subtitles, then exit
          --quality EXPR            best, worst, 720p, 'height<=720 codec=hevc'
          --audio EXPR              audio, e.g. 'lang=de,lang=en channels=2'
          --subs EXPR               subtitles, e.g. 'lang=en forced=no'
          --video EXPR              video rendition, e.g. name=Dugout
          --languages LIST          preferred audio languages, e.g. de,en
          --subs-file FILE          show captions from a file
          --channel N|NAME          channel of an IPTV list
        NETWORK
          -H, --header 'NAME: VALUE'      send a header field
          --query NAME=VALUE        add a query parameter to URLs
          -A, --user-agent TEXT     send this User-Agent
          -e, --referer URL         send this Referer
          --cookies FILE            send cookies from a file
          --netrc                   use logins from ~/.netrc
          --proxy URL               connect through a proxy
          --cacert FILE             trust only these certificates
          -k, --insecure            do not check certificates
          -4                        use IPv4 addresses only
          -6                        use IPv6 addresses only
          --limit-rate RATE         receive at most this many bytes per second
          --retries N|inf           retries of a failed request
          --timeout TIME            longest wait for the first byte of a response
          --on-gap skip|fail|fill   if a segment is unavailable
          --key HEX|FILE            decrypt with this key instead of the playlist's
        REPORT
          --progress bar|json|none  status line, JSON lines, or nothing
          --json                    print a summary as one JSON document
          --report FILE             write an HTML report of the session
          --access-log FILE         write the access log
          --error-log FILE          write all failures
          --record-trace FILE       record the network traffic for hlsget replay
          -v, --verbose             report retries and oddities
          -q, --quiet               print errors only
          --strict                  exit 10 if anything is missing

        hlsget play --help explains all options. Default options can be set in
        ~/.config/hlsget/config.

        KEYS space pause, arrows seek 10 s and 60 s, comma and period one frame,
             l repeat from A to B, [ ] rate, i play now, a audio, s subtitles,
             v V quality, m mute, 9 0 volume, h help, q quit; with -o FILE q only;
             in a window also f full screen, o text, S screenshot, > next stream
        EXIT 0 done, 1 bug, 3 not found, 4 network, 5 playlist, 6 no variant, 7 key,
             8 media, 9 output, 10 incomplete, 11 stale live, 12 refused, 64 usage,
             130 interrupted, 143 SIGTERM, 129 SIGHUP
        """
}

extension String {
    fileprivate func trimmingNewline() -> String { hasSuffix("\n") ? String(dropLast()) : self }
}

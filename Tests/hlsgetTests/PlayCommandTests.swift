import ArgumentParser
import HLSKitCore
import HLSKitSimulation
import TestSupport
import Testing

@testable import HLSGetKit
@testable import hlsget

@Suite("Play command")
struct PlayCommandTests {
    private func options(_ arguments: String...) throws -> PlayOptions {
        let command = try HLSGet.parseAsRoot(CatchUpArgument.joined(arguments))
        let play = try #require(command as? PlayCommand)
        return try play.options()
    }

    @Test("a URL alone plays it, with and without the verb")
    func defaults() throws {
        #expect(try options("http://a/b") == PlayOptions(url: "http://a/b"))
        #expect(try options("play", "http://a/b") == PlayOptions(url: "http://a/b"))
    }

    @Test("every option reaches its field")
    func everyOption() throws {
        var expected = PlayOptions(url: "http://a/b")
        expected.outputs = [
            OutputArgument(destination: .standardOutput, format: .y4m),
            OutputArgument(destination: .file(path: "a.wav"), format: .wav),
        ]
        expected.overwritesFiles = true
        expected.rate = 1.5
        expected.startsImmediately = true
        expected.automaticallyWaits = false
        expected.forwardBufferDuration = .seconds(30)
        expected.peakBitRate = 2.5e6
        expected.isExpensive = true
        expected.expensivePeakBitRate = 600_000
        expected.maximumResolution = PixelSize(width: 1280, height: 720)
        expected.display = DisplaySize(size: PixelSize(width: 640, height: 360), scale: 2)
        expected.startsOnFirstEligibleVariant = true
        expected.from = .fromEnd(.seconds(30))
        expected.to = .fromEnd(.seconds(10))
        expected.interstitialAction = .skip
        expected.skipsDateRanges = [try DateRangeExpression(parsing: "ad"), try DateRangeExpression(parsing: "ID=a")]
        expected.skipsURIs = [try TextPattern("/ads/")]
        expected.wait = WaitArgument(limit: .seconds(600))
        expected.until = .timeOfDay(81_000)
        expected.errorLogPath = "e.log"
        expected.keyOverride = ContentKeyOverride(
            key: [UInt8](repeating: 0xAB, count: 16), initializationVector: [UInt8](repeating: 0, count: 16))
        expected.stale = StaleArgument(.end, after: .seconds(600))
        expected.fellBehindAction = .oldest
        expected.quality = try QualityExpression(parsing: "720p,best")
        expected.audio = try QualityExpression(parsing: "lang=de", for: .renditions)
        expected.subtitles = try QualityExpression(parsing: "forced=yes", for: .renditions)
        expected.video = try QualityExpression(parsing: "name=Dugout", for: .renditions)
        expected.fields = [TransportField(name: "A", value: "b"), TransportField(name: "C", value: "d")]
        expected.query = ["a=b%20c"]
        expected.certificateFile = "/dev/null"
        expected.forcesHTTP11 = true
        expected.allowsFilesOutside = true
        expected.cacheFolder = "kept"
        expected.languages = ["de-AT", "en"]
        expected.throttle = .constant(LinkConditions(bitsPerSecond: 800_000, latency: .milliseconds(50)))
        expected.retries = .count(2)
        expected.retryBackoff = try BackoffArgument(parsing: "1,5")
        expected.gapAction = .fail
        expected.timeout = .seconds(5)
        expected.deniesPrivateAddresses = true
        expected.deniedAddresses = [try AddressArgument(parsing: "10.0.0.0/8"), try AddressArgument(parsing: "::1")]
        expected.allowsDowngrade = true
        expected.isStrict = true
        expected.threads = 3
        expected.progress = .json
        expected.verbosity = .verbose
        let parsed = try options(
            "-o", "-", "-o", "a.wav", "-f", "y4m", "--overwrite", "--rate", "1.5", "--immediately", "--no-auto-wait",
            "--forward-buffer", "30", "--peak-bitrate", "2.5M", "--expensive",
            "--expensive-peak-bitrate", "600k", "--max-resolution", "1280x720", "--display",
            "640x360@2",
            "--interstitials", "skip", "--skip-dateranges", "ad", "--skip-uri", "/ads/", "--skip-dateranges", "ID=a",
            "--start-first-eligible", "--from", "-30s", "--to", "-10s", "--stale", "end,10m",
            "--fell-behind", "oldest", "--wait", "10m", "--until", "22:30", "--error-log", "e.log",
            "--key", String(repeating: "ab", count: 16), "--iv", "0x" + String(repeating: "0", count: 32), "--quality",
            "720p,best",
            "--audio", "lang=de", "--subs", "forced=yes", "--video", "name=Dugout", "--languages", "de-AT,en",
            "--cache", "kept", "-H", "A: b",
            "--header", "C: d", "--query", "a=b c",
            "--cacert", "/dev/null",
            "--http1.1", "--allow-file", "--throttle", "800k,50ms", "--retries", "2", "--timeout", "5",
            "--retry-backoff", "1,5", "--on-gap", "fail",
            "--deny-private", "--deny-address", "10.0.0.0/8", "--deny-address", "::1", "--allow-downgrade", "--strict",
            "--threads", "3", "--progress", "json", "-v", "http://a/b")
        #expect(parsed == expected)
    }

    @Test(
        "behind the live window, recordings continue at the oldest segment, watching at the edge",
        arguments: [
            ([], .jumpToEdge), (["-o", "a.ts"], .jumpToOldest),
            (["-o", "-", "-f", "s16le"], .jumpToOldest), (["-o", "a.ts", "--fell-behind", "edge"], .jumpToEdge),
            (["--fell-behind", "fail"], .fail),
        ] as [([String], FellBehindPolicy)])
    func fellBehind(arguments: [String], policy: FellBehindPolicy) throws {
        let command = try #require(try HLSGet.parseAsRoot(arguments + ["http://a/b"]) as? PlayCommand)
        #expect(try command.options().fellBehindPolicy == policy)
    }

    @Test(
        "--stale takes an action, a time, or both",
        arguments: [
            ("end", StaleArgument(.end)), ("wait", StaleArgument(.wait)), ("10m", StaleArgument(after: .seconds(600))),
            ("fail,1:30", StaleArgument(after: .seconds(90))), ("end,5m", StaleArgument(.end, after: .seconds(300))),
        ])
    func stale(text: String, expected: StaleArgument) throws {
        #expect(try StaleArgument(parsing: text) == expected)
    }

    @Test(
        "files are written unpaced, unless somebody watches, a player reads, or pacing is requested",
        arguments: [
            ([], true), (["-o", "a.mp4"], false), (["-o", "-"], false), (["-o", "a.mp4", "--pace"], true),
            (["-o", "a.mp4", "--window"], true), (["-o", "a.mp4", "--preview"], true), (["--player", "cat"], true),
            (["-o", "a.mp4", "--listen"], true), (["-o", "a.mp4", "--rate", "1.5"], true), (["--fast"], false),
            (["-o", "a.mp4", "--live-catch-up"], true), (["-o", "a.mp4", "--no-auto-wait"], true),
            (["-o", "a.mp4", "--immediately"], true), (["--player", "cat", "--fast"], false),
        ] as [([String], Bool)])
    func pace(arguments: [String], isPaced: Bool) throws {
        let command = try #require(try HLSGet.parseAsRoot(CatchUpArgument.joined(["x"] + arguments)) as? PlayCommand)
        #expect(try command.options().isPaced == isPaced)
    }

    @Test("standard output gets a transport stream by default")
    func standardOutput() throws {
        #expect(try options("x", "-o", "-").outputs == [OutputArgument(destination: .standardOutput, format: .ts)])
        #expect(
            try options("x", "-o", "-", "-f", "mkv").outputs
                == [OutputArgument(destination: .standardOutput, format: .mkv)])
    }

    @Test("fields after a URL are sent, and typed fields override them")
    func fieldsInURL() throws {
        let parsed = try options("http://a.example/x|User-Agent=A&Referer=B", "-A", "T")
        #expect(parsed.url == "http://a.example/x")
        #expect(parsed.fields.map { "\($0.name)=\($0.value)" } == ["User-Agent=T", "Referer=B"])
    }

    @Test("mutually exclusive options reach their fields, too")
    func otherOptions() throws {
        let fast = try options(
            "x.m3u8", "--fast", "-f", "null", "--no-decode", "--no-audio", "--json", "-q", "--insecure")
        #expect(!fast.isPaced && !fast.decodes && !fast.includesAudio && fast.includesVideo && fast.outputs.isEmpty)
        #expect(fast.printsSummaryDocument && fast.verbosity == .quiet && !fast.verifiesCertificates)
        #expect(try options("x", "--no-video").includesVideo == false)
        #expect(try options("x", "--duration", "1m").duration == .seconds(60))
        #expect(try options("x", "--live-from-start").liveFromStart)
        #expect(try options("x").allowsLowLatency)
        #expect(try !options("x", "--no-low-latency").allowsLowLatency)
        #expect(try options("x", "--live-catch-up").catchesUp)
        #expect(try options("x", "--live-catch-up").catchUpRate == nil)
        for parsed in [
            try options("x", "--live-catch-up", "1.05"), try options("--live-catch-up=1.05", "x"),
            try options("--live-catch-up", "1.05", "--insecure", "x"), try options("x", "--live-catch-up=1.05", "-4"),
        ] {
            #expect(parsed.catchUpRate == 1.05 && !parsed.catchesUp)
        }
        #expect(try options("x", "--live-offset", "12s").liveOffset == .seconds(12))
        #expect(try options("x", "--from=-30s").from == .fromEnd(.seconds(30)))
    }

    @Test("the connection options reach the transport")
    func connection() throws {
        let folder = try ScratchFolder()
        for name in ["cookies.txt", "client.pem", "client.key"] { try folder.write([], to: name) }
        let parsed = try options(
            "http://a/b", "--cookies", "\(folder.path)/cookies.txt", "--cert", "\(folder.path)/client.pem",
            "--key-file",
            "\(folder.path)/client.key", "--proxy", "socks5h://p:1080", "--limit-rate", "1.5k", "--interface", "eth7",
            "--connections-per-host", "3", "--resolve", "a:443:[2001:db8::1]", "--connect-to", "::edge:",
            "-6",
            "--send-credentials-to", "https://cdn.example", "--send-credentials-to", "http://x:81")
        let network = parsed.transportConfiguration
        #expect(network.cookieFile == "\(folder.path)/cookies.txt")
        #expect(network.clientCertificateFile == "\(folder.path)/client.pem")
        #expect(network.clientKeyFile == "\(folder.path)/client.key")
        #expect(network.proxy == .url("socks5h://p:1080"))
        #expect(network.maximumBytesPerSecond == 1536)
        #expect(network.maximumConnectionsPerHost == 3)
        #expect(network.interface == "eth7")
        #expect(
            network.connectionTargets == [
                .init(host: "a", port: 443, targetHost: "2001:db8::1"), .init(targetHost: "edge"),
            ])
        #expect(network.addressFamily == .ipv6)
        #expect(
            parsed.credentialOrigins == Set(["https://cdn.example", "http://x:81"].compactMap(URLOrigin.init(of:))))
        #expect(try options("x", "-4").transportConfiguration.addressFamily == .ipv4)
        #expect(try options("x", "--proxy", "none").transportConfiguration.proxy == .none)
        #expect(try options("x", "--proxy", "p:3128").transportConfiguration.proxy == .url("http://p:3128"))
        #expect(try options("x").transportConfiguration.proxy == .environment)
    }

    @Test(
        "usage errors exit with 64 and give the mistake",
        arguments: [
            (["x", "--no-video", "--no-audio"], "nothing to play"),
            (["x", "-o", "a.xyz"], "a.xyz"), (["x", "-o", "-", "-f", "ts", "--json"], "standard output"),
            (["x", "-H", "nonsense"], "Name: value"), (["x", "--bogus"], "--bogus"), ([], "url"),
            (["x", "y"], "y"), (["x", "--rate", "0"], "other than 0"), (["x", "--rate", "-65"], "--rate"),
            (["x", "--rate", "8", "-o", "a.ts"], "-o"), (["x", "--rate", "-1", "--loop", "2"], "--loop"),
            (["x", "--to", "5", "--duration", "5"], "--duration"),
            (["x", "--from", "10", "--to", "5"], "after --from"),
            (["x", "--from", "-5s", "--to", "-10s"], "after --from"),
            (["x", "--live-from-start", "--live-offset", "5"], "--live-offset"),
            (["x", "--from", "5", "--live-from-start"], "--from"), (["x", "-v", "-q"], "-q"),
            (["x", "--progress", "bar", "-q"], "-q"), (["x", "--progress", "xml"], "json"),
            (["x", "-o", "a.wav", "--no-audio"], "wav"), (["x", "-o", "a.y4m", "--no-video"], "y4m"),
            (["x", "-o", "a.y4m", "--no-decode"], "--no-decode"), (["x", "--fast", "--rate", "2"], "--fast"),
            (["x", "--fast", "--immediately"], "--fast"), (["x", "--fast", "--no-auto-wait"], "--fast"),
            (["x", "--fast", "--live-catch-up"], "--fast"),
            (["x", "--no-auto-wait", "--live-catch-up"], "never waits"),
            (["x", "--fast", "--live-catch-up", "1.05"], "--fast"),
            (["x", "--live-catch-up", "1"], "--live-catch-up"), (["x", "--live-catch-up=2.01"], "--live-catch-up"),
            (["x", "--live-catch-up=fast"], "--live-catch-up"),
            (["x", "--no-audio", "--audio", "lang=de"], "--audio"),
            (["x", "--no-video", "--video", "name=a"], "--video"),
            (["download", "x", "--no-video", "--video", "name=a"], "--video"),
            (["x", "--no-decode", "--threads", "2"], "--threads"),
            (["x", "--rate", "8", "--no-video"], "--no-video"), (["x", "--rate", "-1", "--to", "5"], "--to"),
            (["x", "--rate", "-1", "--duration", "5"], "--duration"),
            (["x", "--cache", "c", "--record-trace", "t"], "--cache"),
            (["x", "--retries", "0", "--retry-backoff", "1"], "--retry-backoff"),
            (["download", "x", "-o", "a/", "--overwrite"], "--overwrite"),
            (["download", "x", "-o", "a/", "--no-video", "--quality", "best", "--quality", "worst"], "--quality"),
            (["download", "x", "-q", "--progress", "bar"], "-q"),
            (["download", "x", "--retries", "0", "--retry-backoff", "1"], "--retry-backoff"),
            (["x", "--insecure", "--cacert", "f"], "--cacert"), (["x", "--threads", "0"], "1 to 64"),
            (["x", "--access-log", "l", "--error-log", "l"], "same file"), (["x", "--wait", "soon"], "forever"),
            (["x", "--until", "25:00"], "22:30"), (["x", "--key", "00"], "neither 32 hexadecimal"),
            (["x", "--key", String(repeating: "0", count: 32), "--record-trace", "t"], "does not record --key"),
            (["x", "--iv", String(repeating: "0", count: 32), "--record-trace", "t"], "does not record --key, --iv"),
            (["x", "--key-uri", "https://h/k", "--record-trace", "t"], "--key-uri, so its replay"),
            (["x", "--subs", "lang=de", "--subs-file", "/dev/null"], "both choose the subtitles"),
            (["x", "--cache", "f", "--record-trace", "t"], "media from --cache"),
            (["x", "--retries", "-1"], "--retries"), (["x", "--retry-backoff", "1,,2"], "not a time"),
            (["x", "--on-gap", "stay"], "skip, fail, fill"), (["x", "--from", "#x"], "media sequence number"),
            (["x", "--from", "#5", "--to", "#4"], "--to must not be before"), (["x", "-o", "{other}.ts"], "{name}"),
            (["x", "--duration", "0"], "above 0"),
            (["x", "-f", "avi"], "mkv"), (["x", "--player", " "], "needs a command"),
            (["x", "--query", "a"], "name=value"), (["x", "--languages", "de,,en"], "commas between them"),
            (["x", "--languages", "de,!!"], "language tags"),
            (["x", "--player", "cat", "-f", "ts", "-f", "mp4"], "one -f"),
            (["x", "--player", "cat", "-f", "null"], "--player"),
            (["x", "--player", "cat", "-f", "mp4", "--adaptive"], "mp4"),
            (["x", "-4", "-6"], "-6"), (["x", "--proxy", "ftp://p"], "socks5h"), (["x", "--limit-rate", "0"], "200k"),
            (["x", "--cookies", "/no/such/file"], "No such file"), (["x", "--cert", "/"], "folder"),
            (["x", "--key-file", "/dev/null"], "--cert"), (["x", "--send-credentials-to", "example.com"], "https://"),
            (["x", "--proxy", "http://p", "--deny-private"], "--deny-private"),
            (["x", "--stale", "maybe"], "end, fail, wait"), (["x", "--stale", "wait,5m"], "end, fail, wait"),
            (["x", "--fell-behind", "end"], "edge, oldest, fail"),
            (["x", "--quality", "foo"], "foo"),
        ] as [([String], String)])
    func usage(arguments: [String], words: String) {
        do {
            _ = try HLSGet.parseAsRoot(CatchUpArgument.joined(arguments))
            Issue.record("\(arguments) is accepted")
        } catch {
            #expect(HLSGet.exitCode(for: error).rawValue == 64)
            let message = HLSGet.fullMessage(for: error)
            #expect(message.contains(words), "\(message)")
            #expect(message.hasPrefix("hlsget: error: "))
        }
    }

    @Test("the help page fits 80 columns, and names existing options and each command")
    func helpPage() {
        let page = HelpPage.text(commands: HLSGet.configuration.subcommands)
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 100)
        #expect(lines.filter { $0.count > 80 } == [])
        #expect(page.contains(CommandInfo.version))
        let reference = PlayCommand.helpMessage(columns: 500)
        #expect(Self.longOptions(in: page).subtracting(Self.longOptions(in: reference)).subtracting(["--help"]) == [])
        #expect(Self.longOptions(in: page).count > 50)
        for command in HLSGet.configuration.subcommands where command != PlayCommand.self {
            #expect(page.contains("hlsget \(command.configuration.commandName ?? "?") "))
        }
    }

    @Test(
        "hlsget watch has all options of play except --list, and opens a window by default")
    func watch() throws {
        let play = Self.longOptions(in: PlayCommand.helpMessage(columns: 500))
        let watch = Self.longOptions(in: WatchCommand.helpMessage(columns: 500))
        #expect(play.count > 80)
        #expect(play.subtracting(watch) == ["--list", "--config", "--no-config"])
        func options(_ arguments: String...) throws -> PlayOptions {
            try #require(try HLSGet.parseAsRoot(["watch"] + arguments + ["http://a/b"]) as? WatchCommand).options()
        }
        let window = try options("--rate", "2", "-k", "-o", "a.ts")
        #expect(window.opensWindow && window.rate == 2 && !window.verifiesCertificates)
        #expect(window.outputs.count == 1)
        let several = try options("http://a/1", "http://a/2")
        #expect(several.url == "http://a/1" && several.followingURLs == ["http://a/2", "http://a/b"])
        let quiet = try options("--volume", "40", "--mute")
        #expect(quiet.volume == 40 && quiet.isMuted)
        let preview = try options("--preview")
        #expect(!preview.opensWindow && preview.showsPreview)
    }

    @Test("help has three forms, and is not an option of commands")
    func askingForHelp() {
        for arguments in [["-h"], ["--help"], ["help"]] { #expect(HelpPage.isAskedFor(by: arguments)) }
        for arguments in [[], ["play", "--help"], ["x"], ["--version"]] { #expect(!HelpPage.isAskedFor(by: arguments)) }
    }

    private static func longOptions(in text: String) -> Set<String> {
        Set(
            text.split(whereSeparator: { $0.isWhitespace || ",'()".contains($0) }).filter { $0.hasPrefix("--") }
                .map(String.init))
    }

    @Test(
        "progress is a bar only on a terminal, unless requested otherwise",
        arguments: [
            (nil, true, false, .bar), (nil, false, false, .none), (nil, true, true, .none), (.json, false, true, .json),
            (PlayOptions.ProgressStyle.none, true, false, .none), (.bar, false, false, .bar),
            (.bar, true, false, .bar),
        ] as [(PlayOptions.ProgressStyle?, Bool, Bool, PlayOptions.ProgressStyle)])
    func progress(asked: PlayOptions.ProgressStyle?, isTerminal: Bool, isQuiet: Bool, style: PlayOptions.ProgressStyle)
    {
        var options = PlayOptions(url: "x")
        options.progress = asked
        options.verbosity = isQuiet ? .quiet : .normal
        #expect(options.progressStyle(standardErrorIsTerminal: isTerminal) == style)
    }
}

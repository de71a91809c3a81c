import Glibc
import HLSKitCore
import HLSKitSimulation
import TestSupport
import Testing

@testable import HLSGetKit

@Suite("Option values")
struct ArgumentValueTests {
    @Test(
        "times are read in their usual forms",
        arguments: [
            ("90", .seconds(90)), ("0", .zero), ("1.5", .milliseconds(1500)), ("1:30", .seconds(90)),
            ("1:02:03.5", .milliseconds(3_723_500)), ("90:00", .seconds(5400)), ("1m30s", .seconds(90)),
            ("2h", .seconds(7200)), ("1h1m1s1ms", .milliseconds(3_661_001)), ("250ms", .milliseconds(250)),
            ("0.000000001", .nanoseconds(1)), ("1.0000000019", .nanoseconds(1_000_000_001)),
            ("1.5m", .seconds(90)),
        ] as [(String, Duration)])
    func times(text: String, duration: Duration) throws {
        #expect(try DurationArgument.parse(text) == duration)
    }

    @Test(
        "invalid times are refused",
        arguments: [
            "", "-5", "x", "1:60", "1:2:3:4", "1:", ":30", "1.", ".5", "1s1m", "1m1m", "5 s", "1e3", "٣", "9999999999",
            "999999999h", "10000h1s", "1.5:00", "inf", "1:-1", "m", "+1",
        ])
    func notTimes(text: String) {
        #expect(throws: ArgumentValueError.self) { try DurationArgument.parse(text) }
    }

    @Test("a minus counts from the end")
    func positions() throws {
        #expect(try TimePosition(parsing: "-1m30s") == .fromEnd(.seconds(90)))
        #expect(try TimePosition(parsing: "1:30") == .fromStart(.seconds(90)))
        let date = try #require(PlaylistDate("2026-01-31T22:30:00Z"))
        #expect(try TimePosition(parsing: "2026-01-31T22:30:00Z") == .date(date))
        #expect(try TimePosition(parsing: "2026-01-31T23:30:00+01:00") == .date(date))
        #expect(try TimePosition(parsing: "#12") == .segment(12))
        for text in ["#", "#-1", "#1a", "#99999999999999999999", "2026-13-31", "2026-01-31T25:30:00"] {
            #expect(throws: ArgumentValueError.self) { try TimePosition(parsing: text) }
        }
        #expect(throws: ArgumentValueError.self) { try TimePosition(parsing: "--5") }
        #expect(throws: ArgumentValueError.self) { try TimePosition(parsing: "-") }
    }

    @Test(
        "bit rates are read in their usual forms",
        arguments: [
            ("800000", 800_000.0), ("800k", 800_000), ("2.5M", 2_500_000), ("10m", 10e6), ("1G", 1e9), ("0", 0),
        ])
    func bitRates(text: String, value: Double) throws {
        #expect(try BitRateArgument.parse(text) == value)
    }

    @Test(
        "invalid bit rates are refused",
        arguments: ["", "k", "-5", "5x", "1e6", "nan", "5000G", "1.2.3", " 5", "٣k"])
    func notBitRates(text: String) {
        #expect(throws: ArgumentValueError.self) { try BitRateArgument.parse(text) }
    }

    @Test("sizes are width x height, displays have a scale")
    func sizes() throws {
        #expect(try PixelSize(parsing: "1280x720") == PixelSize(width: 1280, height: 720))
        #expect(
            try DisplaySize(parsing: "640x360@2") == DisplaySize(size: PixelSize(width: 640, height: 360), scale: 2))
        #expect(try DisplaySize(parsing: "640x360").scale == 1)
        for text in ["", "1280", "x", "0x5", "1280x", "1x2x3", "70000x1", "-1x1", "1280X720p"] {
            #expect(throws: ArgumentValueError.self, "\(text)") { try PixelSize(parsing: text) }
        }
        for text in ["640x360@", "640x360@0", "640x360@x", "640x360@2@2", "@2", "640x360@17"] {
            #expect(throws: ArgumentValueError.self, "\(text)") { try DisplaySize(parsing: text) }
        }
    }

    @Test("--until is the next such time of day, or a date with its time zone")
    func until() throws {
        let noon = PlaylistDate(seconds: 1_000_000)
        func wait(_ text: String, at secondOfDay: Int = 43_200) throws -> Duration {
            try UntilArgument(parsing: text).interval(from: noon, secondOfDay: secondOfDay)
        }
        #expect(try wait("12:00:01") == .seconds(1))
        #expect(try wait("22:30") == .seconds(37_800))
        #expect(try wait("00:00") == .seconds(43_200))
        #expect(try wait("12:00") == .seconds(86_400), "that of tomorrow")
        #expect(try wait("11:59:59") == .seconds(86_399))
        #expect(try wait("1970-01-12T13:46:50Z") == .seconds(10))
        #expect(try wait("1970-01-12T15:46:50+02:00") == .seconds(10))
        #expect(try wait("1970-01-01T00:00:00Z") == .zero)
        // The date is fixed when the argument is parsed, however long the wait before it is used.
        let fixed = try UntilArgument(parsing: "12:00").fixed(from: noon, secondOfDay: 43_199)
        #expect(fixed == .date(noon + .seconds(1)))
        #expect(fixed.interval(from: noon + .seconds(60), secondOfDay: 43_259) == .zero)
        #expect(WaitArgument(limit: nil).limited(to: .seconds(3)).limit == .seconds(3))
        #expect(WaitArgument(limit: .seconds(2)).limited(to: .seconds(3)).limit == .seconds(2))
        #expect(WaitArgument(limit: .seconds(2)).limited(to: nil).limit == .seconds(2))
        #expect(try wait("+10m") == .seconds(600))
        #expect(try wait("+1:00") == .seconds(60))
        #expect(try UntilArgument(parsing: "+90").fixed(from: noon, secondOfDay: 0) == .date(noon + .seconds(90)))
        for text in ["", "24:00", "12", "12:60", "1:2:3:4", "12:00:60", "2026-01", "2026-13-01", "+", "+x", "+-1"] {
            #expect(throws: ArgumentValueError.self, "\(text)") { try UntilArgument(parsing: text) }
        }
    }

    @Test(
        "a date without a time zone is local",
        arguments: [
            ("2026-01-31T22:30:15", [2026, 1, 31, 22, 30, 15]), ("2026-07-31 22:30:00", [2026, 7, 31, 22, 30, 0]),
            ("2026-07-31", [2026, 7, 31, 0, 0, 0]),
        ])
    func localDate(_ text: String, _ fields: [Int]) throws {
        guard case .date(let date) = try UntilArgument(parsing: text) else {
            Issue.record("no date")
            return
        }
        #expect(try TimePosition(parsing: text) == .date(date))
        var (seconds, parts) = (Int(date.seconds), tm())
        localtime_r(&seconds, &parts)
        let found = [
            parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
        ]
        #expect(found.map(Int.init) == fields)
    }

    @Test("--until is announced with its day and the remaining time")
    func untilAnnounced() throws {
        let noon = PlaylistDate(seconds: 1_000_000)
        func words(_ text: String) throws -> String {
            try UntilArgument(parsing: text).announcement(from: noon, secondOfDay: 43_200)
        }
        #expect(try words("22:30") == "until 22:30 (in 10:30:00)")
        #expect(try words("04:27") == "until 04:27 tomorrow (in 16:27:00)")
        #expect(try words("11:59:59") == "until 11:59:59 tomorrow (in 23:59:59)")
        #expect(try words("12:00") == "until 12:00 tomorrow (in 24:00:00)")
        #expect(try words("+10m") == "for 10:00")
        #expect(try words("1970-01-12T13:46:50Z") == "until 1970-01-12T13:46:50.000Z (in 0:10)")
    }

    @Test("N05: keys are 32 digits, or a file of 16 bytes")
    func keys() throws {
        let bytes: [UInt8] = (0..<16).map { $0 * 16 + 15 }
        let digits = "0f1f2f3f4f5f6f7f8f9fafbfcfdfefff"
        for text in [digits, "0x" + digits, "0X" + digits.uppercased()] {
            #expect(try KeyArgument(parsing: text).bytes == bytes)
        }
        for text in ["", "0x", "0f", digits + "00", String(digits.dropLast()), "+f" + digits.dropFirst(2)] {
            #expect(throws: ArgumentValueError.self, "\(text)") { try KeyArgument(parsing: text) }
        }
        let folder = try ScratchFolder()
        #expect(try KeyArgument(parsingDigitsOrFile: try folder.write(bytes, to: "k")).bytes == bytes)
        for count in [0, 15, 17] {
            let path = try folder.write([UInt8](repeating: 1, count: count), to: "k\(count)")
            #expect(throws: ArgumentValueError.self) { try KeyArgument(parsingDigitsOrFile: path) }
        }
    }

    @Test("a throttle is a trace file or a rate with a latency")
    func throttles() throws {
        #expect(try ThrottleArgument(parsing: "dir/t.csv") == .trace(path: "dir/t.csv"))
        #expect(try ThrottleArgument(parsing: "3g.csv") == .trace(path: "3g.csv"))
        #expect(
            try ThrottleArgument(parsing: "800k,50ms")
                == .constant(LinkConditions(bitsPerSecond: 800_000, latency: .milliseconds(50))))
        #expect(try ThrottleArgument(parsing: "2M") == .constant(LinkConditions(bitsPerSecond: 2e6)))
        #expect(try ThrottleArgument(parsing: "2M").networkTrace().bitsPerSecond(at: 5000) == 2e6)
        #expect(
            try ThrottleArgument(parsing: "800k,50ms,2.5%")
                == .constant(LinkConditions(bitsPerSecond: 8e5, latency: .milliseconds(50), packetLoss: 0.025)))
        let bad = ["800k,50ms,", "800k,50ms,1", "800k,50ms,100%", "800k,50ms,-1%", "800k,1%", "800k,50ms,nan%"]
        for text in ["", "0", "0k,5ms", "800k,", "800k,x", "800k,5h", "12x", "800k,50"] + bad {
            #expect(throws: ArgumentValueError.self, "\(text)") { try ThrottleArgument(parsing: text) }
        }
    }

    @Test("an unreadable trace is named as a usage error")
    func missingTrace() throws {
        let throttle = try ThrottleArgument(parsing: "no/such.csv")
        #expect {
            try throttle.networkTrace()
        } throws: { error in
            let text = (error as? ArgumentValueError)?.description ?? ""
            return text.hasPrefix("--throttle: no/such.csv: ") && text.contains("No such file")
        }
        #expect(ExitStatus(ArgumentValueError("")).rawValue == 64)
    }

    @Test("header fields are split at the colon, and injections are refused")
    func headers() throws {
        #expect(
            try TransportField(argument: "Authorization: Bearer a:b")
                == TransportField(name: "Authorization", value: "Bearer a:b"))
        #expect(try TransportField(argument: "X-Empty:") == TransportField(name: "X-Empty", value: ""))
        for text in ["", "Name", ": v", "Na me: v", "Name : v", "A: b\r\nC: d", "A: b\u{0}", "Ä: b"] {
            #expect(throws: ArgumentValueError.self, "\(text)") { try TransportField(argument: text) }
        }
    }

    @Test("addresses are numeric, with a valid prefix length")
    func addresses() throws {
        for text in ["127.0.0.3", "10.0.0.0/8", "0.0.0.0/0", "fd00::/8", "::1", "::1/128"] {
            #expect(try AddressArgument(parsing: text).text == text)
        }
        for text in ["", "localhost", "10.0.0.0/33", "10.0.0/8", "::1/129", "10.0.0.0/", "10.0.0.0/-1", "/8"] {
            #expect(throws: ArgumentValueError.self, "\(text)") { try AddressArgument(parsing: text) }
        }
    }

    @Test(
        "a location without a scheme is a path in the working directory",
        arguments: [
            ("https://a/b.m3u8?c=d", "https://a/b.m3u8?c=d"), ("HTTP://a/", "HTTP://a/"),
            ("file:///x/y", "file:///x/y"), ("data:,x", "data:,x"), ("a.m3u8", "file:///home/u/a.m3u8"),
            ("./a.m3u8", "file:///home/u/a.m3u8"), ("../a.m3u8", "file:///home/u/../a.m3u8"),
            ("/abs/a b#c?.m3u8", "file:///abs/a%20b%23c%3F.m3u8"), ("a:b.m3u8", "file:///home/u/a%3Ab.m3u8"),
            ("ä.m3u8", "file:///home/u/%C3%A4.m3u8"), ("1http://x", "file:///home/u/1http%3A//x"),
        ])
    func locations(text: String, url: String) throws {
        #expect(try InputLocation.url(of: text, in: "/home/u") == url)
    }

    @Test("in the root directory there is one slash")
    func rootDirectory() throws {
        #expect(try InputLocation.url(of: "a", in: "/") == "file:///a")
        #expect(throws: ArgumentValueError.self) { try InputLocation.url(of: "", in: "/") }
        for text in ["http://", "https:///x", "HTTP://user@/x", "http://?a"] {
            #expect(throws: ArgumentValueError.self, "\(text)") { try InputLocation.url(of: text, in: "/") }
        }
    }

    @Test("a folder means the playlist in it, or is an error")
    func folders() throws {
        let folder = try ScratchFolder()
        #expect(throws: ArgumentValueError.self) { try InputLocation.url(of: folder.path, in: "/") }
        try folder.write([], to: "index.m3u8")
        #expect(try InputLocation.url(of: folder.path, in: "/") == "file://\(folder.path)/index.m3u8")
        #expect(try InputLocation.url(of: folder.path + "/", in: "/") == "file://\(folder.path)/index.m3u8")
    }

    @Test(
        "the format follows from the file extension",
        arguments: [
            ("a.ts", .ts), ("a.MP4", .mp4), ("a.mkv", .mkv), ("a.y4m", .y4m), ("a.yuv", .rawvideo),
            ("a.rgb", .rawvideo),
            ("a.wav", .wav), ("a.s16le", .s16le), ("a.f32le", .f32le), ("a.md5", .framemd5),
            ("x.y/a.framemd5", .framemd5),
            ("a", nil), ("a.ts/b", nil), ("a.", nil), ("-", nil), ("a.avi", nil), ("a.null", nil),
        ] as [(String, OutputFormat?)])
    func formats(name: String, format: OutputFormat?) {
        #expect(OutputFormat(path: name) == format)
    }

    @Test("-f applies to one output, and to several outputs without a clear extension")
    func outputs() throws {
        func formats(_ names: [String], _ format: OutputFormat?) throws -> [OutputFormat] {
            try OutputArgument.outputs(names, formats: format.map { [$0] } ?? []).map(\.format)
        }
        #expect(try formats(["a.ts"], nil) == [.ts])
        #expect(try formats(["a.ts"], .mp4) == [.mp4])
        #expect(try formats(["-"], .wav) == [.wav])
        #expect(try formats(["-"], nil) == [.ts])
        #expect(try formats(["v.y4m", "a.wav"], nil) == [.y4m, .wav])
        #expect(try formats(["-", "a.wav"], .y4m) == [.y4m, .wav])
        #expect(try formats([], .null) == [])
        #expect(try formats([], nil) == [])
        let wrong: [([String], OutputFormat?)] = [
            (["a.xyz"], nil), (["a.ts", "a.ts"], nil), (["-", "-"], .ts), ([], .ts), (["a.ts"], .null),
            ([""], .ts),
        ]
        for (names, format) in wrong {
            #expect(throws: ArgumentValueError.self, "\(names)") { try formats(names, format) }
        }
    }

    @Test("equally many -f and -o are paired in order; ambiguous combinations are refused")
    func severalFormats() throws {
        func formats(_ names: [String], _ formats: [OutputFormat]) throws -> [OutputFormat] {
            try OutputArgument.outputs(names, formats: formats).map(\.format)
        }
        #expect(try formats(["x.raw", "y.wav"], [.framemd5, .s16le]) == [.framemd5, .s16le])
        #expect(try formats(["a.mp4", "b.mkv"], [.ts, .mkv]) == [.ts, .mkv])
        #expect(try formats(["a.mp4"], [.ts]) == [.ts], "the name is only a name")
        let wrong: [([String], [OutputFormat])] = [
            (["a.mp4", "b.mkv"], [.ts]), (["a.mp4"], [.ts, .mp4]), ([], [.framemd5, .framemd5]),
            (["-", "a.x", "b.y"], [.ts, .mkv]), (["a.ts", "b.ts"], [.ts, .null]),
        ]
        for (names, given) in wrong {
            #expect(throws: ArgumentValueError.self, "\(names)") { try formats(names, given) }
        }
    }

    @Test("Q01: a player gets ts, or the format of -f without -o")
    func players() throws {
        typealias Output = OutputArgument
        let player = Output.Destination.program("cat")
        #expect(try Output.outputs([], formats: [], player: "cat") == [Output(destination: player, format: .ts)])
        for (typed, run) in [
            ("mpv", "mpv -"), ("/usr/bin/vlc", "/usr/bin/vlc -"), ("mpv -", "mpv -"), ("tee x", "tee x"),
        ] {
            #expect(
                try Output.outputs([], formats: [], player: typed) == [Output(destination: .program(run), format: .ts)])
        }
        #expect(try Output.outputs([], formats: [.mkv], player: "cat") == [Output(destination: player, format: .mkv)])
        #expect(
            try Output.outputs(["a.mp4"], formats: [], player: "cat") == [
                Output(destination: .file(path: "a.mp4"), format: .mp4), Output(destination: player, format: .ts),
            ])
    }

    @Test(
        "a suggestion unlike the typed option is omitted",
        arguments: [
            ("Error: Unknown option '--quailty'. Did you mean '--quality'?", true),
            ("Error: Unknown option '--overwite'. Did you mean '--overwrite'?\nUsage: x", true),
            ("Error: Unknown option '--json'. Did you mean '--from'?\nUsage: x", false),
            ("Error: Unknown option '--dur'. Did you mean '--to'?", false),
            ("Error: Unknown option '--start'. Did you mean '--stale'?", false),
            ("Error: something else", true), ("", true),
        ])
    func suggestions(message: String, stays: Bool) {
        let filtered = Suggestion.filtered(message)
        #expect((filtered == message) == stays)
        if !stays {
            #expect(!filtered.contains("Did you mean"))
            #expect(filtered.hasPrefix(String(message.prefix { $0 != "." }) + "."))
        }
    }

    @Test("--retries and --retry-backoff change the retries")
    func retries() throws {
        var policies = RetryPolicies()
        try RetriesArgument(parsing: "3").apply(to: &policies)
        #expect(policies == RetryPolicies(maximumRetryCount: 3))
        policies = RetryPolicies()
        try RetriesArgument(parsing: "inf").apply(to: &policies)
        #expect(policies.budget == nil && policies.liveBudget == nil && policies.maximumRetryCount == nil)
        #expect(policies.lostMediaTime == nil && policies.unsuccessfulRequestTotal == .max && policies.skipsSegments)
        policies = RetryPolicies()
        try BackoffArgument(parsing: "0,1.5,1m").apply(to: &policies)
        #expect(policies.delays == [.zero, .milliseconds(1500), .seconds(60)])
        #expect(policies.secondAttemptDelay == .zero)
        for text in ["", "1,", "x", "inf"] {
            #expect(throws: ArgumentValueError.self) { try BackoffArgument(parsing: text) }
        }
        for text in ["", "infinite", "-1", "1001"] {
            #expect(throws: ArgumentValueError.self) { try RetriesArgument(parsing: text) }
        }
        var options = PlayOptions(url: "x")
        options.gapAction = .fail
        policies = RetryPolicies()
        options.apply(to: &policies)
        #expect(policies == RetryPolicies(skipsSegments: false))
    }
}

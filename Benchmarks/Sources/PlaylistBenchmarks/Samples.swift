/// Typical playlists, generated so that everyone measures the same bytes.
enum Samples {
    static func vod(segmentCount: Int = 100_000) -> [UInt8] {
        var text = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        for index in 0..<segmentCount {
            text += "#EXTINF:\(index % 2 == 0 ? "6.006" : "5.994"),\nvideo/1080p/segment_\(index).ts\n"
        }
        return Array((text + "#EXT-X-ENDLIST\n").utf8)
    }

    /// Returns a live window in which each segment has a date and a byte range. The key changes every ten segments, and
    /// a date range begins every hundred.
    static func live(from first: Int = 5_000_000, segmentCount: Int = 10_000) -> [UInt8] {
        var text = """
            #EXTM3U
            #EXT-X-VERSION:6
            #EXT-X-TARGETDURATION:6
            #EXT-X-MEDIA-SEQUENCE:\(first)
            #EXT-X-DISCONTINUITY-SEQUENCE:12
            #EXT-X-MAP:URI="init.mp4"

            """
        if first % 10 != 0 { text += key(first / 10) }
        for number in first..<first + segmentCount {
            if number % 10 == 0 { text += key(number / 10) }
            if number % 100 == 50 {
                text += """
                    #EXT-X-DATERANGE:ID="ad-\(number)",CLASS="com.example.ad",START-DATE="\(date(number))",DURATION=30.0,X-AD="\(number)"

                    """
            }
            text += """
                #EXT-X-PROGRAM-DATE-TIME:\(date(number))
                #EXT-X-BYTERANGE:\(400_000 + number % 7919)@\(number % 600 * 500_000)
                #EXTINF:6.00000,
                https://cdn.example.com/live/channel1/1080p/file_\(number / 600).m4s

                """
        }
        return Array(text.utf8)
    }

    private static func key(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        let iv = String(repeating: "0", count: 32 - digits.count) + digits
        return "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"https://keys.example.com/k/\(number)\",IV=0x\(iv)\n"
    }

    /// Returns 2024-01-01T00:00:00Z plus six seconds for each number, within the first 28 days of the month.
    private static func date(_ number: Int) -> String {
        let seconds = number * 6 % (28 * 86_400)
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let time = "\(two(seconds / 3600 % 24)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
        return "2024-02-\(two(seconds / 86_400 + 1))T\(time).125Z"
    }

    static func lowLatency(segmentCount: Int = 2_000) -> [UInt8] {
        var text = """
            #EXTM3U
            #EXT-X-VERSION:9
            #EXT-X-TARGETDURATION:4
            #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.0,CAN-SKIP-UNTIL=24.0
            #EXT-X-PART-INF:PART-TARGET=0.33334
            #EXT-X-MEDIA-SEQUENCE:266
            #EXT-X-MAP:URI="init.mp4"

            """
        for number in 266..<266 + segmentCount {
            for part in 0..<12 {
                let end = part % 6 == 0 ? ",INDEPENDENT=YES" : ""
                text += "#EXT-X-PART:DURATION=0.33334,URI=\"filePart\(number).\(part).mp4\"\(end)\n"
            }
            text += "#EXTINF:4.00008,\nfileSequence\(number).mp4\n"
        }
        text += "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"filePart\(266 + segmentCount).0.mp4\"\n"
        text += "#EXT-X-RENDITION-REPORT:URI=\"../1M/waitForMSN.php\",LAST-MSN=\(266 + segmentCount),LAST-PART=2\n"
        return Array(text.utf8)
    }

    static func multivariant(variantCount: Int = 500) -> [UInt8] {
        var text = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-INDEPENDENT-SEGMENTS\n"
        for index in 0..<40 {
            text += """
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aud\(index % 4)",NAME="Language \(index)",LANGUAGE="l\(index)",\
                DEFAULT=\(index < 4 ? "YES" : "NO"),AUTOSELECT=YES,CHANNELS="2",URI="audio/\(index)/prog_index.m3u8"

                """
        }
        for index in 0..<variantCount {
            text += """
                #EXT-X-STREAM-INF:AVERAGE-BANDWIDTH=\(index * 10_000 + 168_258),BANDWIDTH=\(index * 12_000 + 241_216),\
                VIDEO-RANGE=SDR,CODECS="mp4a.40.2,avc1.640028",RESOLUTION=1920x1080,FRAME-RATE=29.970,\
                CLOSED-CAPTIONS=NONE,AUDIO="aud\(index % 4)"
                sdr_\(index)_1080p/prog_index_with_a_longer_name.m3u8

                """
        }
        return Array(text.utf8)
    }
}

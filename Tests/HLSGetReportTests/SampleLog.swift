@testable import HLSGetReport

enum SampleLog {
    static let host = "https://cdn.example.com"

    static func variant(_ index: Int) -> String {
        let (rates, rows) = ([400_000, 800_000, 1_800_000, 3_200_000], [234, 360, 540, 720])
        return
            #"{"index":\#(index),"bandwidth":\#(rates[index] * 6 / 5),"average_bandwidth":\#(rates[index]),"width":\#(rows[index] * 16 / 9),"height":\#(rows[index]),"frame_rate":25,"codecs":"avc1.4d401f"}"#
    }

    static func status(_ old: String, _ new: String, _ time: Double, reason: String? = nil) -> String {
        let reason = reason.map { "\"\($0)\"" } ?? "null"
        let rate = new == "playing" ? 1 : 0
        return
            #"{"v":1,"event":"time_control","old":"\#(old)","new":"\#(new)","reason":\#(reason),"rate":1,"timebase_rate":\#(rate),"item_time":0,"time":\#(time)}"#
    }

    static func stall(_ time: Double) -> String {
        #"{"v":1,"event":"stall","variant":\#(variant(2)),"item_time":\#(time),"time":\#(time)}"#
    }

    static func segment(
        _ number: Int, variant: Int = 2, from start: Double, first: Double? = 0.05, took: Double, bytes: Int,
        error: String? = nil, media: Double = 4
    ) -> String {
        let first = first.map { "\(start + $0)" } ?? "null"
        let error = error.map { "\"\($0)\"" } ?? "null"
        return
            #"{"v":1,"event":"media_segment_request","url":"\#(host)/v\#(variant)/\#(number).m4s","server_address":"203.0.113.7","request_start":\#(start),"response_start":\#(first),"response_end":\#(start + took),"bytes":\#(bytes),"from_cache":false,"error":\#(error),"protocol":"h2","reused_connection":true,"map":false,"media_sequence":\#(number),"segment_start":\#(Double(number) * media),"segment_duration":\#(media),"variant":\#(variant),"lane":"main","item_time":null,"date":"2026-11-27T20:15:03.000Z","time":\#(start + took)}"#
    }

    static func playlist(_ kind: String, from start: Double, took: Double, reload: Bool = false) -> String {
        #"{"v":1,"event":"playlist_request","url":"\#(host)/film/\#(kind).m3u8","request_start":\#(start),"response_start":\#(start + took / 2),"response_end":\#(start + took),"bytes":900,"from_cache":false,"error":null,"transfer_start":\#(start),"name_lookup_end":\#(start + took / 10),"connect_end":\#(start + took / 5),"secure_connect_end":\#(start + took / 3),"protocol":"h2","reused_connection":false,"kind":"\#(kind)","reload":\#(reload),"time":\#(start + took)}"#
    }

    static func progress(_ time: Double, at itemTime: Double, loaded: Double, expects rate: Int = 2_000_000) -> String {
        #"{"v":1,"event":"progress","status":"playing","item_time":\#(itemTime),"duration":60,"loaded_time_ranges":[[0,\#(loaded)]],"variant":\#(variant(2)),"throughput_estimate":\#(rate),"time":\#(time)}"#
    }

    /// A session that starts after 1 s and stalls at 20 s for 8 s because the network is too slow.
    static var slow: [String] {
        [
            #"{"v":1,"event":"session","url":"https://cdn.example.com/film/master.m3u8?token=...","software":"hlsget/0.1.0","time":0}"#,
            status("paused", "waiting", 0, reason: "evaluatingBufferingRate"),
            playlist("multivariant", from: 0, took: 0.2).replacing(
                #","time""#, with: #","variants":[\#((0..<4).map(variant).joined(separator: ","))],"time""#),
            playlist("media", from: 0.2, took: 0.1),
            #"{"v":1,"event":"variant_switch_start","from":null,"to":\#(variant(2)),"explanation":"fits 2.5 Mbit/s","time":0.3}"#,
            segment(0, from: 0.3, took: 0.7, bytes: 900_000), status("waiting", "playing", 1),
        ]
            + (1...4).map { segment($0, from: Double($0), took: 0.8, bytes: 900_000) }
            + (1...40).map { index in
                let time = Double(index) / 2
                return progress(time, at: max(0, time - 1), loaded: 20)
            }
            + [
                stall(20.99), status("playing", "waiting", 21, reason: "toMinimizeStalls"),
                segment(5, from: 6, took: 22, bytes: 900_000),
                #"{"v":1,"event":"variant_switch_start","from":\#(variant(2)),"to":\#(variant(0)),"explanation":"less: 0.3 Mbit/s","time":28}"#,
                segment(6, variant: 0, from: 28, took: 0.9, bytes: 200_000), status("waiting", "playing", 29),
                #"{"v":1,"event":"did_play_to_end","time":60}"#, status("playing", "paused", 60),
                #"{"v":1,"event":"summary","url":"https://cdn.example.com/film/master.m3u8","duration":51,"duration_watched":51,"started_after":1,"stalls":1,"time":60.1}"#,
            ]
    }

    static func record(_ lines: [String]) -> SessionRecord {
        var recorder = SessionRecorder()
        for line in lines { recorder.take(line) }
        return recorder.finished()
    }
}

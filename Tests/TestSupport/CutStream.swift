/// The sample as a stream of two playlists with a separate file for each segment: `master.m3u8`, `v.m3u8`, `a.m3u8`,
/// `v0.m4s`….
package enum CutStream {
    package static func files() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for (name, short) in [("video-180p", "v"), ("audio-en", "a")] {
            let rendition = try SampleMedia.rendition(name)
            var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"\(short)-init.mp4\"\n"
            files["\(short)-init.mp4"] = rendition.initializationSection
            for (index, segment) in rendition.segments.enumerated() {
                files["\(short)\(index).m4s"] = segment
                text += "#EXTINF:\(rendition.durations[index]),\n\(short)\(index).m4s\n"
            }
            files["\(short).m3u8"] = Array((text + "#EXT-X-ENDLIST\n").utf8)
        }
        files["master.m3u8"] = Array(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="a.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=127446,CODECS="avc1.4d400d,mp4a.40.2",RESOLUTION=320x180,AUDIO="a"
            v.m3u8

            """.utf8)
        return files
    }
}

/// The keys of CMCD, and the places in which each is allowed.
///
/// Sources: CTA-5004 table 1; CTA-5004-B table 1.
enum ClientDataKey: String, CaseIterable {
    case ab, bg, bl, br, bs, bsa, bsd, bsda, cdn, cen, cid, cmsdd, cmsds, cs, d, dfa, dl, e, ec, h, lab, lb, ltc, msd
    case mtp, nor, nr, nrr, ot, pb, pr, pt, rc, rtp, sf, sid, smrt, sn, st, sta, su, tab, tb, tbl, tpb, ts, ttfb, ttfbb
    case ttlb, url, v

    func header(in version: ClientData.Version) -> ClientData.HeaderField {
        switch self {
        case .ab, .br, .d, .lab, .lb, .ot, .tab, .tb, .tpb: .object
        case .bl, .cs, .dfa, .dl, .ltc, .mtp, .nor, .nrr, .pb, .sn, .sta, .su, .tbl: .request
        case .cid, .msd, .sf, .sid, .st, .v: .session
        // Version 2 moved this key.
        case .pr: version == .one ? .session : .status
        case .bg, .bs, .bsa, .bsd, .bsda, .cdn, .cen, .cmsdd, .cmsds, .e, .ec, .h, .nr, .pt, .rc, .rtp, .smrt, .ts,
            .ttfb, .ttfbb, .ttlb, .url:
            .status
        }
    }

    static let versionOne: Set<ClientDataKey> = [
        .br, .bl, .bs, .cid, .d, .dl, .mtp, .nor, .nrr, .ot, .pr, .rtp, .sf, .sid, .st, .su, .tb, .v,
    ]
    static let ofEvents: Set<ClientDataKey> = [
        .cen, .cmsdd, .cmsds, .e, .h, .rc, .smrt, .ts, .ttfb, .ttfbb, .ttlb, .url,
    ]
    static let ofResponses: Set<ClientDataKey> = [.cmsdd, .cmsds, .rc, .smrt, .ttfb, .ttfbb, .ttlb, .url]
}

extension ClientData.Event {
    var requiredKey: ClientDataKey? {
        switch self {
        case .playState: .sta
        case .bitrateChange: .br
        case .playbackRate: .pr
        case .contentID: .cid
        case .hostname: .h
        case .error: .ec
        case .responseReceived: .url
        case .backgrounded: .bg
        case .custom: .cen
        case .timeInterval, .mute, .unmute, .playerExpand, .playerCollapse, .adBreakStart, .adBreakEnd, .adStart,
            .adEnd,
            .skip:
            nil
        }
    }
}

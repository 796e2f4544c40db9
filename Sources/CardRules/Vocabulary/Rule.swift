/// The number of a rule, as code, tests, metrics and the timeline name it.
public enum Rule: String, Hashable, Sendable, CaseIterable {
    case l1 = "L1", l2 = "L2", l3 = "L3", l4 = "L4", l5 = "L5", l6 = "L6", l7 = "L7", l8 = "L8", l9 = "L9", l10 = "L10"
    case s1 = "S1", s2 = "S2", s3 = "S3", s4 = "S4", s5 = "S5", s6 = "S6", s7 = "S7", s8 = "S8", s9 = "S9"
    case s10 = "S10", s11 = "S11", s12 = "S12", s13 = "S13", s14 = "S14", s15 = "S15"
    case p1 = "P1", p2 = "P2", p3 = "P3", p4 = "P4", p5 = "P5", p6 = "P6", p7 = "P7", p8 = "P8", p9 = "P9"
    case p10 = "P10", p11 = "P11"
    case u1 = "U1", u2 = "U2", u3 = "U3", u4 = "U4", u5 = "U5", u6 = "U6"
    case e1 = "E1", e2 = "E2", e3 = "E3", e4 = "E4"
    case r1 = "R1", r2 = "R2", r3 = "R3", r4 = "R4", r5 = "R5", r6 = "R6", r7 = "R7"
    case g1 = "G1", g2 = "G2", g3 = "G3", g4 = "G4", g5 = "G5", g6 = "G6", g7 = "G7", g8 = "G8"
    case a1 = "A1", a2 = "A2", a3 = "A3", a4 = "A4"
    case t1 = "T1", t2 = "T2", t3 = "T3", t4 = "T4", t5 = "T5", t6 = "T6", t7 = "T7", t8 = "T8", t9 = "T9"
    case t10 = "T10", t11 = "T11", t12 = "T12"
}
